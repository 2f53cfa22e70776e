"""Labels of the cases of a study, and what their trials have in common."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping

from streamgauge import writing
from streamgauge.measure.summary import TrialSummary

RATE = "load.rate"
SEARCH = "search"
"""The value of `load.rate` that asks for the maximum."""
ONLY_CASE = "the only case"


def case_label(varied: Mapping[str, object]) -> str:
    """`{"system.executors": 2}` → `executors 2`; keys that end alike are written in full."""
    ends = Counter(key.rpartition(".")[2] for key in varied)
    names = {key: end if ends[end := key.rpartition(".")[2]] == 1 else key for key in varied}
    return ", ".join(f"{names[key]} {setting_text(value)}" for key, value in varied.items())


def setting_text(value: object) -> str:
    """A value of an experiment file as people read it."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return writing.number(value)
    return json.dumps(value, default=str, ensure_ascii=False)


def without_rate(varied: Mapping[str, object]) -> dict[str, object]:
    """The values that tell searches apart: cases that differ only in their rate share a search."""
    return {key: value for key, value in varied.items() if key != RATE}


def verdict_counts(trials: Iterable[TrialSummary]) -> str:
    """The verdicts of a case: `✓ valid`, or `2 ✓ valid, 1 ✗ invalid` where they differ."""
    counts = Counter(trial.verdict for trial in trials)
    texts = [(f"{verdict.mark} {verdict.value}", n) for verdict, n in counts.items()]
    return texts[0][0] if len(texts) == 1 else ", ".join(f"{n} {text}" for text, n in texts)


def all_sustained(trials: Iterable[TrialSummary]) -> bool | None:
    """Whether every trial of a case was sustained."""
    answers = {trial.sustained for trial in trials}
    if False in answers:
        return False
    return True if answers == {True} else None
