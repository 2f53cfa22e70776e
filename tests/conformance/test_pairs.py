"""Every installed system on every channel that it has a connector for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamgauge.systems.support import support_matrix
from tests.conformance.suite import check_pair, opened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAIRS = [
    (entry.system, entry.name)
    for entry in support_matrix()
    if entry.sort == "channel" and entry.capability
]


def test_the_built_in_systems_are_among_them() -> None:
    built_in = {("spark", "direct"), ("simulated", "direct"), ("spark", "kafka")}
    assert {*built_in, ("spark-realtime", "kafka"), ("program", "kafka")} <= set(PAIRS)


# Each channel on a worker of its own: the pairs are the longest tests that share a session.
@pytest.mark.parametrize(
    ("system", "channel"),
    [pytest.param(*pair, marks=pytest.mark.xdist_group(f"pairs-{pair[1]}")) for pair in PAIRS],
)
def test_a_pair_conforms(system: str, channel: str, tmp_path: Path, spark: SparkSession) -> None:
    with opened(system, channel, tmp_path, spark) as pair:
        check_pair(pair)
