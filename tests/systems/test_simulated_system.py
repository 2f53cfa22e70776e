"""What the simulated system runs and what it refuses."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from streamgauge.errors import ExperimentError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import make_study
from streamgauge.processes.component import Console
from streamgauge.queries.gaming.aggregation import AggregationQuery
from streamgauge.systems.base import Assignment
from streamgauge.systems.simulated import program
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


def test_it_saves_no_idle_time_for_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offered nothing for a while, it may then take no more than in any other tick."""
    capacity = 1_000_000
    asked: list[int] = []
    moments = itertools.count(0, program.TICK_S)

    class Idle:
        def head_us(self, after_us: int, most: int | None = None) -> int:
            asked.append(most or 0)
            return after_us

        def close(self) -> None: ...

    monkeypatch.setattr(program.plugins, "load_path", lambda _: lambda _: Idle())
    monkeypatch.setattr(program, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    plan = make_study(*read_experiment("quickstart", ["system=simulated"])).first_plan
    assignment = Assignment(
        number=1,
        load=plan.load,
        query=plan.query_config,
        connector="",
        offer={},
        checkpoint=tmp_path,
    )
    idle = program.SimulatedProgram(
        SimulatedSystem(capacity=capacity), assignment, cast(Console, None)
    )
    while len(asked) < 8:
        time.sleep(0.01)
    idle.end()
    assert max(asked) <= 2 * program.TICK_S * capacity
