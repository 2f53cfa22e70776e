"""The moments that the section `faults` stands for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.disturb.section import FaultEntry, PlannedFault, parsed, planned
from streamgauge.errors import ExperimentError
from streamgauge.units import SECOND_US

TARGETS = ["program", "executor", "worker"]


def timeline(*entries: dict[str, Any], seconds: int = 60, seed: int = 1) -> list[PlannedFault]:
    read = [FaultEntry.model_validate(entry) for entry in entries]
    return planned(parsed(read), seconds * SECOND_US, seed)


def test_a_fault_at_a_time_happens_then() -> None:
    (fault,) = timeline({"at": "30 s", "kill": "executor"})
    assert (fault.at_us, fault.title) == (30 * SECOND_US, "kill executor")


def test_a_repeated_fault_begins_after_one_interval_and_ends_before_the_load() -> None:
    faults = timeline({"every": "20 s", "pause": "worker", "for": "5 s"}, seconds=62)
    # A pause at 60 s would not be over at 62 s.
    assert [fault.at_us // SECOND_US for fault in faults] == [20, 40]


def test_entries_are_mixed_in_the_order_of_time() -> None:
    faults = timeline({"at": "50 s", "kill": "program"}, {"every": "40 s", "kill": "executor"})
    assert [fault.target for fault in faults] == ["executor", "program"]


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(["kill", "pause", "slow"]))
    target = draw(st.sampled_from([*TARGETS, TARGETS]))
    lasting = {} if name == "kill" else {"for": f"{draw(st.integers(1, 5))} s"}
    when = draw(
        st.sampled_from(["at", "every", "times"]).flatmap(
            lambda word: st.tuples(st.just(word), st.integers(1, 20))
        )
    )
    return {when[0]: f"{when[1]} s" if when[0] != "times" else when[1], name: target, **lasting}


@given(st.lists(entries(), max_size=5), st.integers(30, 300), st.integers(0, 1 << 60))
def test_the_same_seed_gives_the_same_faults_all_inside_the_load(
    section: list[dict[str, Any]], seconds: int, seed: int
) -> None:
    faults = timeline(*section, seconds=seconds, seed=seed)
    assert faults == timeline(*section, seconds=seconds, seed=seed)
    assert faults == sorted(faults, key=lambda one: one.at_us)
    for fault in faults:
        assert 0 <= fault.at_us <= seconds * SECOND_US - fault.fault.length_us
        assert fault.target in TARGETS


@given(st.lists(entries(), min_size=1, max_size=4), st.integers(0, 1 << 60))
def test_an_entry_has_the_same_faults_whatever_follows_it(
    section: list[dict[str, Any]], seed: int
) -> None:
    alone, first = timeline(section[0], seed=seed), set(timeline(*section, seed=seed))
    assert set(alone) <= first


def test_another_seed_gives_other_random_moments() -> None:
    entry = {"times": 10, "kill": TARGETS}
    assert timeline(entry, seed=1) != timeline(entry, seed=2)


@pytest.mark.parametrize(
    ("entry", "key", "problem"),
    [
        ({"at": "60 s", "kill": "program"}, "faults.0.at", "not before the end of the load, 1 min"),
        ({"at": "58 s", "pause": "program", "for": "3 s"}, "faults.0.at", "the fault lasts 3 s"),
        ({"every": "70 s", "kill": "program"}, "faults.0.every", "not before the end"),
        ({"times": 3, "after": "61 s", "kill": "program"}, "faults.0.after", "not before the end"),
        ({"every": "5 s", "until": "2 min", "kill": "program"}, "faults.0.until", "is after"),
        ({"at": "5 s", "after": "3 s", "kill": "program"}, "faults.0.after", "is for `every`"),
        ({"kill": "program"}, "faults.0", "one of `at`, `every` and `times`"),
        ({"at": "5 s", "every": "5 s", "kill": "program"}, "faults.0", "one of `at`"),
        ({"at": "5 s", "kil": "program"}, "faults.0", "names no fault"),
        ({"at": "5 s", "kill": "program", "pause": "program"}, "faults.0", "has kill and pause"),
        ({"at": "5 s", "kill": 7}, "faults.0.kill", "is no target"),
        ({"at": "5 s", "kill": []}, "faults.0.kill", "is no target"),
        ({"at": "5 s", "pause": "program"}, "faults.0.for", "is missing"),
        ({"at": "5 s", "pause": "program", "for": "-1 s"}, "faults.0.for", "between 0 and"),
        ({"at": "5 s", "kill": "program", "fro": "3 s"}, "faults.0.fro", "unknown key"),
        ({"at": "5 s", "slow": "program", "for": "3 s", "by": "100 %"}, "faults.0.by", "less than"),
        ({"every": "1 ms", "kill": "program"}, "faults.0.every", "more than 10,000"),
    ],
)
def test_a_mistake_is_refused_with_the_key(entry: dict[str, Any], key: str, problem: str) -> None:
    with pytest.raises(ExperimentError, match=problem) as caught:
        timeline(entry)
    assert caught.value.key == key


def test_the_nearest_fault_is_named() -> None:
    with pytest.raises(ExperimentError) as caught:
        timeline({"at": "5 s", "kil": "program"})
    assert caught.value.fix == "did you mean `kill`?"
