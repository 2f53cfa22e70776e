"""Puts the trials of a study together: its verdict, the spread of its repetitions, its figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamgauge.experiments.planning.study import RATE, Study, StudyCase
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.summarising.trial import Facts, flat_parameters
from streamgauge.measure.search import ProbeOutcome, SearchResult
from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import (
    MAXIMUM,
    Case,
    Published,
    Summary,
    ThresholdResult,
    Try,
    Verdict,
)

if TYPE_CHECKING:
    from streamgauge.compare.published import PublishedFigure

_WORST_FIRST = (Verdict.INVALID, Verdict.VOID, Verdict.UNKNOWN, Verdict.VALID)
_RATES = ("offered_per_s", "drained_per_s", "worked_off_per_s", MAXIMUM)
_STATISTICS = ("mean", "min", "max", "p50", "p90", "p95", "p99", "p99_9")


@dataclass(frozen=True)
class Finished:
    """One trial of a case; without a summary when the search found no rate to run it at."""

    case: StudyCase
    repetition: int
    summary: Summary | None
    search: SearchResult | None
    place: str = ""
    """The directory of the trial, inside that of the study."""


def together(
    study: Study, directory: RunDirectory, finished: list[Finished], facts: Facts
) -> Summary:
    """`RUN/summary.json` of a study."""
    trials = [_trial(one) for one in finished]
    figure = study.experiment.figure
    summary = Summary(
        name=study.experiment.name,
        run=directory.path.name,
        status=facts.status,
        verdict=_worst(trials),
        reasons=_reasons(finished, trials, facts),
        sustained=_sustained(finished, trials),
        input_hash=trials[0].input_hash if len(trials) == 1 else "",
        seed=study.experiment.load.seed,
        versions=facts.environment.versions,
        machine=facts.environment.machine,
        parameters=_parameters(study),
        quick=facts.quick,
        command=facts.command,
        started_at=facts.started_at.isoformat(timespec="seconds"),
        phases_s=facts.phases_s,
        thresholds=_thresholds(trials),
        trials=trials,
        cases=cases_of(trials),
        figure=figure.form if figure else "cases",
        paper=figure.paper if figure else "",
    )
    if len(study.groups) == 1 and finished and finished[0].search is not None:
        summary = summary.model_copy(update=_search_figures(finished[0].search))
    if len(trials) == 1:
        only = trials[0]
        # A search has one trial, its confirmation: what that found is what the search found.
        same = (
            "offered_per_s",
            "drained_per_s",
            "worked_off_per_s",
            "latency_ms",
            "validation",
            "resources",
            "limits",
        )
        summary = summary.model_copy(update={name: getattr(only, name) for name in same})
    return summary.model_copy(update={"published": _published(study, summary)})


def _parameters(study: Study) -> dict[str, Any]:
    """Of the first case, but for what is varied and what is searched for."""
    experiment = study.experiment
    searched = experiment.model_dump(mode="json")["search"] if study.groups[0].searched else {}
    return {
        **flat_parameters(study.first_plan),
        RATE: experiment.load.rate,
        **experiment.vary,
        **{f"search.{key}": value for key, value in searched.items()},
    }


def _trial(one: Finished) -> Summary:
    if one.summary is None:
        assert one.search is not None
        found = Summary(name="", run="", reasons=[one.search.in_words], sustained=False)
    else:
        found = one.summary
    update: dict[str, Any] = {
        "run": one.place,
        "varied": one.case.varied,
        "repetition": one.repetition,
    }
    if one.search is not None:
        update |= _search_figures(one.search)
    return found.model_copy(update=update)


def _search_figures(search: SearchResult) -> dict[str, Any]:
    return {
        "maximum_sustainable_per_s": search.maximum_sustainable_per_s,
        "passed": search.passed,
        "failed": search.failed,
        "tries": [_try(outcome) for outcome in search.tries],
        "confidence": search.in_words,
    }


def _try(outcome: ProbeOutcome) -> Try:
    return Try(
        rate_per_s=outcome.rate_per_s,
        kind=outcome.kind,
        verdict=outcome.verdict,
        length_s=outcome.length_us / 1e6,
        drained_per_s=outcome.drained_per_s,
        reason=outcome.reason,
    )


def _worst(trials: list[Summary]) -> Verdict:
    found = [trial.verdict for trial in trials]
    return next((verdict for verdict in _WORST_FIRST if verdict in found), Verdict.UNKNOWN)


def _reasons(finished: list[Finished], trials: list[Summary], facts: Facts) -> list[str]:
    reasons = [facts.failure] if facts.failure else []
    for one, trial in zip(finished, trials, strict=True):
        where = ", ".join(f"{key} = {value}" for key, value in one.case.varied.items())
        overloaded = (one.case.share or 0) > 1
        reasons += [
            f"{where}: {reason}" if where else reason
            for reason in trial.reasons
            if not overloaded or trial.verdict is not Verdict.VALID
        ]
    return reasons


def _sustained(finished: list[Finished], trials: list[Summary]) -> bool | None:
    """A case above the maximum is meant not to be sustained, and does not count."""
    answers = [
        trial.sustained
        for one, trial in zip(finished, trials, strict=True)
        if (one.case.share or 0) <= 1
    ]
    if not answers or None in answers:
        return False if False in answers else None
    return all(answers)


def _thresholds(trials: list[Summary]) -> list[ThresholdResult]:
    """Each threshold once: held only if it held in every trial, with the value that decides."""
    found: dict[str, ThresholdResult] = {}
    for trial in trials:
        for one in trial.thresholds:
            if one.expression not in found or not one.passed:
                found[one.expression] = one
    return list(found.values())


def cases_of(trials: list[Summary]) -> list[Case]:
    """The trials with the same varied values together."""
    places: dict[str, list[int]] = {}
    for place, trial in enumerate(trials):
        places.setdefault(repr(trial.varied), []).append(place)
    return [_case([trials[i] for i in group], group) for group in places.values()]


def _case(trials: list[Summary], places: list[int]) -> Case:
    growing = any(trial.latency_ms.event_time.growing for trial in trials)
    figures = {}
    for name, values in _values(trials):
        # The mean of a growing series says nothing, and the mean of such means less.
        if values and not (growing and name.endswith("_time.mean")):
            figures[name] = spread_of(values)
    return Case(varied=trials[0].varied, trials=places, figures=figures, growing=growing)


def _values(trials: list[Summary]) -> Iterable[tuple[str, list[float]]]:
    for name in _RATES:
        found = [value for trial in trials if (value := getattr(trial, name)) is not None]
        # One search serves all repetitions: its maximum is one figure and has no spread.
        yield name, found[:1] if name == MAXIMUM else found
    for kind in ("event_time", "processing_time"):
        for statistic in _STATISTICS:
            found = [getattr(getattr(trial.latency_ms, kind), statistic) for trial in trials]
            yield f"{kind}.{statistic}", [value for value in found if value is not None]


def _published(study: Study, summary: Summary) -> list[Published]:
    """The published figures, each beside ours of the case that corresponds to it."""
    from streamgauge.compare.published import figures_of

    figure = study.experiment.figure
    if figure is None or figure.published is None:
        return []
    beside = []
    for one in figures_of(figure.published):
        if figure.system and one.system.removesuffix("-90") != figure.system:
            continue
        if figure.settings and one.setting not in figure.settings:
            continue
        case = _case_like(summary.cases, one.setting) or _case_for(one, summary.cases)
        beside.append(
            Published(
                label=one.label or f"{one.system}, {one.setting}",
                figure=one.figure,
                value=one.value,
                ours=_ours(one.figure, case, summary.cases),
                varied=case.varied if case else {},
                note=one.note,
            )
        )
    return beside


def _case_like(cases: list[Case], setting: str) -> Case | None:
    """The case that varies what the setting is called after: `global` of `global-windows`."""
    words = setting.split("-")
    return next((c for c in cases if any(str(v) in words for v in c.varied.values())), None)


def _case_for(published: PublishedFigure, cases: list[Case]) -> Case | None:
    """A maximum stands beside our greatest, another figure beside the same share of the maximum."""
    maxima = {c.figures[MAXIMUM].mean: c for c in cases if MAXIMUM in c.figures}
    if published.figure == MAXIMUM and maxima:
        return maxima[max(maxima)]
    return _case_at(cases, "90 %" if published.system.endswith("-90") else None)


def _ours(figure: str, case: Case | None, cases: list[Case]) -> float | None:
    if figure == "drained_change_percent":
        usual, flooded = _case_at(cases, None), _case_at(cases, "120 %")
        if usual is None or flooded is None:
            return None
        before, after = (c.figures.get("worked_off_per_s") for c in (usual, flooded))
        return 100 * (after.mean / before.mean - 1) if before and after else None
    if figure.endswith("_ratio"):
        # Published only as a ratio: of the longest window to the usual one of 8 s.
        long, usual = (_case_with(cases, "workload.window", v) for v in ("60 s", "8 s"))
        name = {"maximum_sustainable_ratio": MAXIMUM}.get(figure, figure.removesuffix("_ratio"))
        after, before = (c.figures.get(name) if c else None for c in (long, usual))
        return after.mean / before.mean if before and after and before.mean else None
    found = case.figures.get(figure) if case else None
    return found.mean if found else None


def _case_with(cases: list[Case], key: str, value: str) -> Case | None:
    return next((case for case in cases if case.varied.get(key) == value), None)


def _case_at(cases: list[Case], rate: str | None) -> Case | None:
    """The first case at that share of the maximum; without one, at the maximum itself."""
    for case in cases:
        own = case.varied.get(RATE)
        if own == rate or (rate is None and own in (None, "100 %", "search")):
            return case
    return None
