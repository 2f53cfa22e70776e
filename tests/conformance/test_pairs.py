"""Every installed system on every channel that it has a connector for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.systems.support import support_matrix
from tests.conformance.suite import check_pair, opened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WITHOUT_RESULTS = {"none"}
"""What a system without results does is shown by `tests/experiments/test_ingestion_runs.py`."""
PAIRS = [
    (entry.system, entry.name)
    for entry in support_matrix()
    if entry.sort == "channel" and entry.capability and entry.system not in WITHOUT_RESULTS
]


def test_the_built_in_systems_are_among_them() -> None:
    built_in = {("spark", "direct"), ("simulated", "direct"), ("spark", "kafka")}
    assert {*built_in, ("spark-realtime", "kafka"), ("program", "kafka")} <= set(PAIRS)


def test_a_system_without_results_runs_only_queries_whose_results_are_the_log() -> None:
    for system in WITHOUT_RESULTS:
        entries = [one for one in support_matrix() if one.system == system and one.sort == "query"]
        runs = {one.name for one in entries if one.capability}
        assert runs == {
            one for one in runs if build_query(QueryConfig(name=one)).results_are_the_log
        }
        assert runs


# Each channel on a worker of its own: the pairs are the longest tests that share a session.
@pytest.mark.parametrize(
    ("system", "channel"),
    [pytest.param(*pair, marks=pytest.mark.xdist_group(f"pairs-{pair[1]}")) for pair in PAIRS],
)
def test_a_pair_conforms(system: str, channel: str, tmp_path: Path, spark: SparkSession) -> None:
    with opened(system, channel, tmp_path, spark) as pair:
        check_pair(pair)
