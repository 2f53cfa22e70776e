"""Real records of the DEBS 2012 Grand Challenge, repeated: counts against plain Python."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamgauge.queries.espbench.q1 import StatusQuery
from streamgauge.queries.espbench.q2 import OutliersQuery
from streamgauge.queries.espbench.q3 import ErrorsQuery
from streamgauge.queries.espbench.q4 import PowerQuery
from tests.queries.espbench.logs import logged
from tests.queries.espbench.test_sos import plain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The records may be used, but not passed on.
RECORDS = Path(__file__).parents[4] / "shared" / "data" / "debs2012-small.txt"
pytestmark = pytest.mark.skipif(not RECORDS.exists(), reason="the records are not here")
SETTINGS = {"sensors": str(RECORDS), "scale": 1}
RATE, SECONDS = 4_000, 5
"""More records than the file has."""


def records(count: int) -> list[list[str]]:
    lines = RECORDS.read_text().splitlines()
    return [line.split("\t") for line in islice(cycle(lines), count)]


def test_windows_and_errors(spark: SparkSession, tmp_path: Path) -> None:
    values = [int(record[2]) for record in records(RATE * SECONDS)]
    replay = logged(ErrorsQuery(**SETTINGS), tmp_path / "log", rate_per_s=RATE, seconds=SECONDS)
    assert ErrorsQuery(**SETTINGS).expected(spark, replay).count() == sum(
        value > 14_963 for value in values
    )
    rows = StatusQuery(**SETTINGS).expected(spark, replay).orderBy("window_start").collect()
    # Every event was appended 2 ms after it was due, in whole milliseconds.
    per_second = [values[RATE * n - 8 if n else 0 : RATE * (n + 1) - 8] for n in range(SECONDS)]
    per_second.append(values[RATE * SECONDS - 8 :])
    assert [(row["least"], row["greatest"], row["count"]) for row in rows] == [
        (min(second), max(second), len(second)) for second in per_second
    ]
    assert [row["average"] for row in rows] == pytest.approx(
        [sum(second) / len(second) for second in per_second]
    )


def test_low_power(spark: SparkSession, tmp_path: Path) -> None:
    query = PowerQuery(**SETTINGS)
    replay = logged(query, tmp_path / "log", rate_per_s=2 * RATE, seconds=SECONDS)
    # Workplace 2 is always down.
    low = sum(int(record[4]) < 8_105 for record in records(RATE * SECONDS))
    assert query.expected(spark, replay).count() == low > 0


def test_outliers(spark: SparkSession, tmp_path: Path) -> None:
    import numpy as np

    query = OutliersQuery(**SETTINGS)
    replay = logged(query, tmp_path / "log", rate_per_s=1_700, seconds=1)
    points = np.array([[float(one[2]), float(one[3])] for one in records(1_500)])
    outliers = sum(
        int((plain(points[first : first + 500]) >= 0.5).sum()) for first in (0, 500, 1_000)
    )
    assert query.expected(spark, replay).count() == outliers > 0
