"""Summary of a study: verdict, spread of the repetitions, published figures beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamgauge.compare.beside import published_beside
from streamgauge.compare.published import published_table
from streamgauge.experiments.planning.model import FigureSection
from streamgauge.experiments.planning.study import Group, Study, StudyCase
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.summarising.trial import RunState, flat_parameters
from streamgauge.measure.figures import MEAN_LATENCIES, Use, figures_for, value_of
from streamgauge.measure.search import SearchResult
from streamgauge.measure.spread import repetitions_for, spread_of, variation_of
from streamgauge.measure.summary import (
    MAXIMUM,
    Case,
    MeasuredFigures,
    Scale,
    StudySummary,
    ThresholdResult,
    TrialSummary,
    Try,
)
from streamgauge.measure.verdict import worst
from streamgauge.report.cases import RATE, all_sustained, case_label

QUERY, SYSTEM = "workload.query", "system.name"
_MUCH_VARIATION = 0.2
_WANTED_MARGIN = 0.1
"""Of the mean, at 95 %: what a higher number of repetitions is to reach."""
_MOST_REPETITIONS = 1_000


@dataclass(frozen=True)
class FinishedTrial:
    """One trial of a case; without a summary if a search found no rate to run it at."""

    case: StudyCase
    repetition: int
    summary: TrialSummary | None
    search: SearchResult | None
    place: str = ""
    """The directory of the trial, inside that of the study."""
    scale: Scale | None = None
    """What its share is a share of."""


def scale_of(group: Group, search: SearchResult) -> Scale:
    """The search whose maximum the rates of a group are shares of, beside the published rate."""
    experiment = group.reference.experiment
    published = experiment.search.published.get(experiment.workload.query)
    maximum = search.maximum_sustainable_per_s
    return Scale(
        settings={QUERY: experiment.workload.query, SYSTEM: experiment.system.name},
        **_search_figures(search),
        published_per_s=published,
        factor=round(maximum / published, 4) if published and maximum else None,
    )


def summarise_study(
    study: Study, directory: RunDirectory, finished: list[FinishedTrial], state: RunState
) -> StudySummary:
    trials = [_trial(one) for one in finished]
    # The system is not expected to sustain a rate above its maximum.
    pairs = zip(finished, trials, strict=True)
    expected = [trial for one, trial in pairs if not one.case.above_maximum]
    cases = group_into_cases(trials)
    figure, parameters = study.experiment.figure or FigureSection(), _parameters(study)
    figures: dict[str, Any] = {}
    if len(study.groups) == 1 and finished and finished[0].search is not None:
        figures |= _search_figures(finished[0].search)
    if len(trials) == 1:
        # A search has one trial, its confirmation, so the figures of that trial are the study's.
        figures |= {name: getattr(trials[0], name) for name in MeasuredFigures.model_fields}
    if figure.published is not None:
        figures["published"] = published_beside(
            figure.published, cases, figure.system, figure.settings, parameters
        )
        figures["publication"] = published_table(figure.published).publication
    head = state.head(study.experiment, directory)
    of_trials = [warning for trial in trials for warning in trial.warnings]
    warnings = [
        *head.pop("warnings"),
        *of_trials,
        *_not_overloaded(finished, trials),
        *_varying(cases),
    ]
    return StudySummary(
        **head,
        **figures,
        warnings=list(dict.fromkeys(warnings)),
        verdict=worst(trial.verdict for trial in trials),
        reasons=[*([state.failure] if state.failure else []), *_of_cases(trials, "reasons")],
        sustained=all_sustained(expected),
        unsustained_because=_of_cases(expected, "unsustained_because"),
        input_hash=trials[0].input_hash if len(trials) == 1 else "",
        without_system=study.first_plan.query.results_are_the_log,
        parameters=parameters,
        thresholds=_thresholds(trials),
        trials=trials,
        cases=cases,
        figure=figure.form,
        paper=figure.paper,
        scales=_scales(study, finished),
    )


def _scales(study: Study, finished: list[FinishedTrial]) -> list[Scale]:
    """Each once, where they are not simply the maxima of the cases themselves."""
    if not study.experiment.search.of:
        return []
    found = {repr(one.scale): one.scale for one in finished if one.scale is not None}
    return list(found.values())


def _parameters(study: Study) -> dict[str, Any]:
    """Those of the first case, with the lists of varied values and the settings of the search."""
    experiment = study.experiment
    searched = experiment.model_dump(mode="json")["search"] if study.groups[0].searched else {}
    return {
        **flat_parameters(study.first_plan),
        RATE: experiment.load.rate,
        **study.varied,
        **{f"search.{key}": value for key, value in searched.items()},
    }


def _trial(one: FinishedTrial) -> TrialSummary:
    update = {"run": one.place, "varied": one.case.varied, "repetition": one.repetition}
    found = one.summary or TrialSummary(name="", run="", sustained=False)
    if one.search is not None:
        update |= _search_figures(one.search)
        if one.summary is None:
            update["unsustained_because"] = [one.search.in_words]
    return found.model_copy(update=update)


def _search_figures(search: SearchResult) -> dict[str, Any]:
    same = Try.model_fields.keys() - {"length_s"}
    return {
        **search.model_dump(include={MAXIMUM, "passed", "failed"}),
        "tries": [
            Try(**probe.model_dump(include=same), length_s=probe.length_us / 1e6)
            for probe in search.tries
        ],
        "confidence": search.in_words,
    }


def _of_cases(trials: list[TrialSummary], field: str) -> list[str]:
    """The reasons of all trials, each with the label of its case."""
    return [
        ": ".join(filter(None, (case_label(trial.varied), reason)))
        for trial in trials
        for reason in getattr(trial, field)
    ]


def _not_overloaded(finished: list[FinishedTrial], trials: list[TrialSummary]) -> list[str]:
    """Cases above the maximum show an overload, unless the system sustains them."""
    return [
        f"{case_label(one.case.varied)}: no overload was reached, because the system sustained a "
        "rate above the maximum that the search had found, which is too low; a higher share, or a "
        "longer search (`search.budget`), shows an overload"
        for one, trial in zip(finished, trials, strict=True)
        if one.case.above_maximum and trial.sustained
    ]


def _varying(cases: list[Case]) -> list[str]:
    """Cases whose repetitions differ so much that their mean says little."""
    found = []
    for case in cases:
        spread = case.figures.get(MEAN_LATENCIES[0])
        variation = variation_of(spread) if spread else None
        if spread is None or variation is None or variation <= _MUCH_VARIATION:
            continue
        repeat = repetitions_for(spread, _WANTED_MARGIN, _MOST_REPETITIONS)
        label = case_label(case.varied)
        found.append(
            f"{f'{label}: ' if label else ''}the mean latency differs by {100 * variation:.0f} % "
            f"between {spread.count} runs: repeat more often (`--set repeat={repeat}` would know "
            f"it to ± {100 * _WANTED_MARGIN:.0f} %)"
        )
    return found


def _thresholds(trials: list[TrialSummary]) -> list[ThresholdResult]:
    """Each threshold once: passed if it passed in every trial, else with a value that failed."""
    found: dict[str, ThresholdResult] = {}
    for trial in trials:
        for one in trial.thresholds:
            if one.expression not in found or not one.passed:
                found[one.expression] = one
    return list(found.values())


def group_into_cases(trials: list[TrialSummary]) -> list[Case]:
    """One case for the trials with the same varied values."""
    places: dict[str, list[int]] = {}
    for place, trial in enumerate(trials):
        places.setdefault(repr(trial.varied), []).append(place)
    return [_case([trials[i] for i in group], group) for group in places.values()]


def _case(trials: list[TrialSummary], places: list[int]) -> Case:
    growing = any(trial.latency_ms.event_time.growing for trial in trials)
    figures = {}
    for figure in figures_for(Use.CASE):
        found = (value_of(trial, figure.name) for trial in trials)
        values = [value for value in found if value is not None]
        if figure.name == MAXIMUM:
            # One search serves all repetitions: its maximum is one value and has no spread.
            values = values[:1]
        # The mean of a growing series depends on the length of the load only.
        if values and not (growing and figure.name in MEAN_LATENCIES):
            figures[figure.name] = spread_of(values)
    return Case(varied=trials[0].varied, trials=places, figures=figures, growing=growing)
