"""How cases of a study and their figures are named, wherever they are shown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from streamgauge.measure.summary import MAXIMUM, Summary
from streamgauge.report import units
from streamgauge.report.definitions import FIGURES, Figure

RATE = "load.rate"
ONLY_CASE = "the only case"
TIMES = ("event_time", "processing_time")
_MAXIMUM_FIGURE = Figure(
    "maximum sustainable",
    "The highest rate that a search found to be sustained, and confirmed.",
    units.rate,
)
CHANGE = "drained_change_percent"
OF_A_STUDY = {
    CHANGE: Figure(
        "drained, change",
        "What was drained above the maximum against what was drained at it.",
        units.percent,
    ),
    "maximum_sustainable_ratio": Figure(
        "maximum sustainable, 60 s / 8 s",
        "The maximum with windows of a minute by that with windows of 8 s.",
    ),
    "event_time.mean_ratio": Figure(
        "mean event time, 60 s / 8 s",
        "The mean event-time latency with windows of a minute by that with windows of 8 s.",
    ),
}
"""Figures that several cases have together."""


def figure_named(name: str) -> Figure:
    """A figure by its full name, such as `event_time.p99`, labelled so that it stands alone."""
    if name == MAXIMUM:
        return _MAXIMUM_FIGURE
    if name in OF_A_STUDY:
        return OF_A_STUDY[name]
    section, _, last = name.rpartition(".")
    known = FIGURES.get(last)
    if known is None:
        return Figure(name, name)
    if section in TIMES:
        return replace(known, label=f"{FIGURES[section].label} {known.label}")
    return known


def case_label(varied: Mapping[str, object]) -> str:
    """`{"system.executors": 2}` → `executors 2`; keys that end alike are written in full."""
    ends = Counter(key.rpartition(".")[2] for key in varied)
    names = {key: end if ends[end := key.rpartition(".")[2]] == 1 else key for key in varied}
    return ", ".join(f"{names[key]} {value_text(value)}" for key, value in varied.items())


def value_text(value: object) -> str:
    """A value of an experiment file as people read it."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return units.number(value)
    return json.dumps(value, default=str, ensure_ascii=False)


def without_rate(varied: Mapping[str, object]) -> dict[str, object]:
    """What distinguishes the searches of a study: cases that differ in their rate share one."""
    return {key: value for key, value in varied.items() if key != RATE}


def tally(trials: Iterable[Summary]) -> str:
    """The verdicts of a case: `✓ valid`, or `2 ✓ valid, 1 ✗ invalid` where they differ."""
    counts = Counter(trial.verdict for trial in trials)
    words = [(f"{verdict.mark} {verdict.value}", n) for verdict, n in counts.items()]
    return words[0][0] if len(words) == 1 else ", ".join(f"{n} {word}" for word, n in words)


def all_sustained(trials: Iterable[Summary]) -> bool | None:
    """Did every trial of a case sustain its rate?"""
    answers = {trial.sustained for trial in trials}
    if False in answers:
        return False
    return True if answers == {True} else None
