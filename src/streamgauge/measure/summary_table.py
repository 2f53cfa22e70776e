"""`summary.csv`: the figures of every trial of a run as one row, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from streamgauge.measure.figures import TWO_TIMES, figures_below
from streamgauge.measure.summary import (
    FAULTS,
    StudySummary,
    Summary,
    TrialSummary,
    Validation,
    Verdict,
)

_QUERY, _RATE = "workload.query", "load.rate"
_STATISTICS = tuple(name for name in figures_below("event_time") if name != "growth_per_s")
_ANSWERS = {True: "yes", False: "no", None: ""}
_CORRECT = {Verdict.VALID: True, Verdict.INVALID: False}
Cell = str | int | float | None


def summary_csv(summary: Summary) -> str:
    """A row per trial, with the columns of all of them."""
    trials = summary.trials if isinstance(summary, StudySummary) else [summary]
    rows = [dict(_row(trial)) for trial in trials]
    columns = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _row(trial: TrialSummary) -> Iterator[tuple[str, Cell]]:
    parameters, validation = trial.parameters, trial.validation
    yield "run", trial.run
    yield "repetition", trial.repetition
    yield "query", str(trial.varied.get(_QUERY, parameters.get(_QUERY, "")))
    yield "system", str(parameters.get("system.name", ""))
    yield "channel", str(parameters.get("channel.name", ""))
    yield "streams", " ".join(dict.fromkeys(one.stream for one in trial.driver))
    for key, value in trial.varied.items():
        if key not in (_QUERY, _RATE):
            yield key, str(value)
    yield "configured_per_s", _configured(trial)
    yield "offered_per_s", trial.offered_per_s
    yield "drained_per_s", trial.drained_per_s
    yield "status", trial.status.value
    yield "verdict", trial.verdict.value
    yield "correct", _ANSWERS[_CORRECT.get(trial.verdict)]
    yield "sustained", _ANSWERS[trial.sustained]
    yield "growing", _ANSWERS[trial.latency_ms.event_time.growing]
    yield "input", sum(one.offered for one in trial.driver) if trial.driver else None
    for name in ("expected", "actual", *FAULTS):
        yield name, getattr(validation, name)
    yield "correct_percent", correct_percent(validation)
    for time in TWO_TIMES:
        statistics = getattr(trial.latency_ms, time)
        for name in _STATISTICS:
            yield f"{time}.{name}", getattr(statistics, name) if statistics.count else None
    for one in trial.thresholds:
        yield one.expression, _ANSWERS[one.passed]
    yield "calculation_s", trial.phases_s.get("measure")


def _configured(trial: TrialSummary) -> Cell:
    """The rate in events per second, or the share of a maximum that was searched for."""
    rate = trial.parameters.get(_RATE, trial.varied.get(_RATE))
    return rate if isinstance(rate, int | float) else str(rate or "")


def correct_percent(validation: Validation) -> float | None:
    """Results that came once and right, of all that were expected or came without need."""
    if validation.expected is None:
        return None
    missing, extra, duplicate, wrong = (
        getattr(validation, name) or 0 for name in ("missing", "extra", "duplicate", "wrong")
    )
    everything = validation.expected + extra + duplicate
    if not everything:
        return None
    return round(100 * max(0, validation.expected - missing - wrong) / everything, 4)
