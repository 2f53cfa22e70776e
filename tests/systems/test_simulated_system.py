"""What the simulated system runs and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.errors import ExperimentError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import make_study
from streamgauge.queries.gaming.aggregation import AggregationQuery
from streamgauge.systems.simulated.system import SimulatedSystem

NOT_WINDOWED = """
from streamgauge import Keys, StreamSpec
from streamgauge.queries.base import Query, ResultShape, Stream


class Totals(Query):
    @property
    def inputs(self):
        return {"events": Stream(StreamSpec(columns={"sensor": Keys(size=10)}))}

    @property
    def shape(self):
        return ResultShape(keys=("sensor",))

    def on_windows(self, *, start_us, events): ...
"""


def test_a_query_without_windows_is_refused_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "totals.py").write_text(NOT_WINDOWED)
    workload = f"workload={{query: '{tmp_path}/totals.py:Totals'}}"
    with pytest.raises(ExperimentError, match=r"not yet.*subclasses of WindowedQuery"):
        make_study(*read_experiment("quickstart", ["system=simulated", workload]))


def test_it_appends_only() -> None:
    assert SimulatedSystem.can_run(AggregationQuery())
    assert not SimulatedSystem.can_run(AggregationQuery(output_mode="update"))
