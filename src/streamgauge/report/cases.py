"""Labels of the cases of a study, and what their trials have in common."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping

from streamgauge import writing
from streamgauge.measure.summary import Case, TrialSummary

RATE = "load.rate"
SEARCH = "search"
"""The value of `load.rate` that asks for the maximum."""
FAULTS = "faults"
_TIMES = ("at", "every", "times", "after", "until")
ONLY_CASE = "the only case"


def case_label(varied: Mapping[str, object]) -> str:
    """`{"system.executors": 2}` → `executors 2`; keys that end alike are written in full.

    `{"system.name": "spark"}` → `system spark`.
    """
    ends = {key: key.removesuffix(".name").rpartition(".")[2] for key in varied}
    counts = Counter(ends.values())
    return ", ".join(
        f"{end if counts[end] == 1 else key} {setting_text(varied[key], key)}"
        for key, end in ends.items()
    )


def setting_text(value: object, key: str = "") -> str:
    """A value of an experiment file as people read it: `10,000/s` for a `load.rate` of 10000.0."""
    if isinstance(value, str):
        return value
    if value is None:
        return writing.NOTHING
    if isinstance(value, list):
        return ", ".join(setting_text(one, key) for one in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        # All digits: a setting is not measured.
        return f"{value:,.12g}{'/s' if key.endswith('rate') else ''}"
    if key == FAULTS and isinstance(value, dict):
        return _fault_text(value)
    return json.dumps(value, default=str, ensure_ascii=False)


def _fault_text(entry: Mapping[str, object]) -> str:
    """`{"at": "30 s", "kill": "executor"}` → `kill executor at 30 s`."""
    words = sorted(entry, key=lambda word: word in _TIMES)
    return " ".join(f"{word} {setting_text(entry[word])}" for word in words if entry[word])


def without_rate(varied: Mapping[str, object]) -> dict[str, object]:
    """The values that distinguish searches: cases that differ only in their rate share one."""
    return {key: value for key, value in varied.items() if key != RATE}


def mean_of(case: Case | None, figure: str) -> float | None:
    spread = case.figures.get(figure) if case else None
    return spread.mean if spread else None


def verdict_counts(trials: Iterable[TrialSummary]) -> str:
    """The verdicts of a case: `✓ valid`, or `2 ✓ valid, 1 ✗ invalid` where they differ."""
    counts = Counter(f"{trial.verdict.mark} {trial.verdict.value}" for trial in trials)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} {text}" for text, count in counts.items())


def all_sustained(trials: Iterable[TrialSummary]) -> bool | None:
    answers = {trial.sustained for trial in trials}
    if False in answers:
        return False
    return True if answers == {True} else None
