"""The description of a program's results, before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge import Keys, Uuid, event_spec, results
from streamgauge.errors import ExperimentError
from streamgauge.queries.results import NO_ORACLE

EVENTS = event_spec(id=Uuid(), sensor=Keys(size=5))


def expected(events: Any, *, least: int = 0) -> Any:  # noqa: ARG001
    return events


def test_without_an_oracle_there_is_one_result_per_event_and_no_value() -> None:
    query = results(events=EVENTS, keys=["id"]).with_parameters()
    assert query.shape.per_event == 1
    assert (query.compares_values, query.oracle_is) == (False, NO_ORACLE)
    assert query.kinds == ["program"]


def test_with_an_oracle_the_number_of_results_is_not_known() -> None:
    described = results(events=EVENTS, keys=["id"])
    described.oracle(expected)
    query = described.with_parameters(least=3)
    assert query.shape.per_event is None
    assert (query.compares_values, query.oracle_is) == (True, "given by the user")
    assert query.settings()["least"] == 3


@pytest.mark.parametrize(
    ("keys", "cause"),
    [(["window"], "`events` has no column window"), ([], "there are none")],
)
def test_without_an_oracle_keys_must_be_columns_of_the_events(keys: list[str], cause: str) -> None:
    with pytest.raises(ExperimentError, match=cause):
        results(events=EVENTS, keys=keys).with_parameters()


def test_a_setting_that_the_oracle_does_not_have_is_refused() -> None:
    described = results(events=EVENTS, keys=["id"])
    with pytest.raises(ExperimentError, match=r"workload\.least: there is no oracle"):
        described.with_parameters(least=3)
    described.oracle(expected)
    with pytest.raises(ExperimentError, match=r"workload\.leest") as raised:
        described.with_parameters(leest=3)
    assert "`least`" in raised.value.fix
