"""The pipelines in real runs, in micro-batches over both channels and in real-time mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.suite import RATE, SECONDS, opened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOADS: list[dict[str, Any]] = [
    {"query": "wordcount", "vocabulary": 200, "words": 4, "state": "1 MB"},
    {"query": "grep", "lines": 5_000},
    {"query": "yahoo", "window": "2 s"},
    {"query": "pi", "terms": 100, "parts": 10},
]
ONE_PARTITION = {"name": "kafka", "partitions": 1}


@pytest.mark.parametrize(
    ("system", "channel"),
    [
        pytest.param(*pair, marks=pytest.mark.xdist_group(f"pairs-{pair[1]}"))
        for pair in (("spark", "direct"), ("spark", "kafka"), ("spark-realtime", "kafka"))
    ],
)
def test_every_pipeline_is_right_to_the_last_update(
    system: str, channel: str, tmp_path: Path, spark: SparkSession
) -> None:
    with opened(system, channel, tmp_path, spark) as pair:
        for workload in WORKLOADS:
            settings = {"channel": ONE_PARTITION} if channel == "kafka" else {}
            run = pair.run(workload=workload, load__instances=1, **settings)
            run.check_complete()
            found = run.findings.validation
            assert run.offered == RATE * SECONDS
            assert found.updates
            assert (found.updates, found.wrong_updates) == (found.actual, 0), workload
            assert run.findings.latency.visibility.count
