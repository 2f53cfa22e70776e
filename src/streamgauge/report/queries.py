"""A study over queries: a table per rate, what differs in the set-up, and what the queries test."""

from __future__ import annotations

from collections.abc import Iterable

from streamgauge import writing
from streamgauge.measure.figures import FIGURES, TIMES
from streamgauge.measure.summary import Case, Published, StudySummary, TrialSummary
from streamgauge.report.cases import (
    RATE,
    all_sustained,
    case_label,
    mean_of,
    setting_text,
    verdict_counts,
)
from streamgauge.report.cells import answer_cell, heading, value_cell, verdict_kind
from streamgauge.report.markup import EMPTY, Html, bullets, element, joined, left, note, table
from streamgauge.report.published import system_and_setting
from streamgauge.report.setting import facts

QUERY = "workload.query"
_SHOWN = ("event_time.mean", "event_time.p90")
_MEAN = "event_time.mean"
_YES = "✓"
RESPONSE_MS = 2_000
"""What ESPBench asks for; another bound is a threshold of the experiment."""


def queries_figure(summary: StudySummary) -> Html:
    return joined(*_tables(summary), _set_up(summary), _coverage(summary.trials))


def _tables(summary: StudySummary) -> Iterable[Html]:
    """One per rate."""
    rates: dict[str, list[Case]] = {}
    for case in summary.cases:
        rate = case.varied.get(RATE, summary.parameters.get(RATE))
        rates.setdefault(setting_text(rate, RATE), []).append(case)
    for rate, cases in rates.items():
        yield element("h3", rate, style="margin-top:16px")
        yield _table(summary, cases)
    text = f"Latency, {TIMES['event_time'].label}."
    if summary.publication is not None:
        text += (
            f" Published: {summary.publication.citation}. Other machines and versions: orders of "
            "magnitude, no comparison of systems."
        )
    yield note(text)


def _table(summary: StudySummary, cases: list[Case]) -> Html:
    beside = _by_case(summary.published)
    systems = list(dict.fromkeys(name for found in beside.values() for name in found))
    head = (
        "query",
        *(heading(FIGURES[name], f"{FIGURES[name].label}, ours") for name in _SHOWN),
        left(heading(FIGURES["verdict"], "results")),
        left(heading(FIGURES["sustained"])),
        left(f"p90 < {writing.duration(RESPONSE_MS)}"),
        *(f"{system}, mean" for system in systems),
    )
    rows = []
    for case in cases:
        trials = [summary.trials[place] for place in case.trials]
        published = beside.get(summary.cases.index(case), {})
        rows.append(
            (
                _query(case, summary),
                *(_figure(case, name) for name in _SHOWN),
                left(_verdicts(trials)),
                left(_sustained(case, trials)),
                left(_in_time(case)),
                *(_published(published.get(system)) for system in systems),
            )
        )
    return table(head, rows, class_="numbers")


def _by_case(figures: list[Published]) -> dict[int, dict[str, Published]]:
    """The published mean of every system, by the place of our case beside it."""
    found: dict[int, dict[str, Published]] = {}
    for one in figures:
        if one.figure == _MEAN and one.case is not None:
            found.setdefault(one.case, {})[system_and_setting(one)[0]] = one
    return found


def _query(case: Case, summary: StudySummary) -> str:
    """Its name, and the other varied settings."""
    name = setting_text(case.varied.get(QUERY, summary.parameters.get(QUERY, "")))
    others = {key: value for key, value in case.varied.items() if key not in (QUERY, RATE)}
    return ", ".join(filter(None, (name, case_label(others))))


def _figure(case: Case, name: str) -> Html:
    if case.growing and name == _MEAN:
        return element("span", "growing", class_="growing", title="a mean has no meaning")
    return value_cell(FIGURES[name], mean_of(case, name))


def _verdicts(trials: list[TrialSummary]) -> Html:
    kinds = {verdict_kind(trial.verdict) for trial in trials}
    return element("span", verdict_counts(trials), class_=kinds.pop() if len(kinds) == 1 else "bad")


def _sustained(case: Case, trials: list[TrialSummary]) -> Html:
    answer = answer_cell(all_sustained(trials))
    return joined(answer, ", latency growing") if case.growing else answer


def _in_time(case: Case) -> Html:
    """Whether the response time that the benchmark asks for was met."""
    p90 = mean_of(case, "event_time.p90")
    if p90 is None:
        title = "p90 needs 100 results"
        return element("span", "too few results", class_="note", title=title)
    return answer_cell(p90 < RESPONSE_MS)


def _published(one: Published | None) -> Html:
    """The mean; where there is none, why."""
    if one is None:
        return element("span", writing.NOTHING, class_="nothing", title="not published")
    if one.value is None:
        return element("span", one.note or writing.NOTHING, class_="note")
    text = FIGURES[_MEAN].write(one.value)
    if one.growing:
        growing = element("span", "growing", class_="note", style="display:block;margin:0")
        return element("span", joined(text, " ", growing), title=one.note or None)
    return element("span", text, title=one.note or None)


def _set_up(summary: StudySummary) -> Html:
    """Ours and the published set-up, aspect by aspect, and the limits that were stated."""
    publication = summary.publication
    if publication is None:
        return EMPTY
    published = dict(_aspect(line) for line in publication.setup)
    ours = _ours(summary)
    aspects = dict.fromkeys((*published, *ours))
    rows = [
        (name, _text(ours.get(name, "")), _text(published.get(name, "")))
        for name in aspects
        if name
    ]
    return joined(
        element("h3", "What differs in the set-up", style="margin-top:16px"),
        table(("", left("ours"), left(f"published ({publication.short})")), rows),
        note("What these figures do not show:") if publication.limits else EMPTY,
        bullets(publication.limits, "note"),
    )


def _aspect(line: str) -> tuple[str, str]:
    name, colon, text = line.partition(": ")
    return (name, text) if colon else ("", line)


def _text(text: str) -> Html:
    return element("span", text or writing.NOTHING, style="white-space:normal")


def _ours(summary: StudySummary) -> dict[str, str]:
    """In the words of the published aspects."""
    known, parameters, versions = dict(facts(summary)), summary.parameters, summary.versions

    def value(name: str) -> str:
        return setting_text(parameters[name], name) if parameters.get(name) is not None else ""

    broker = {
        "{}": f"{value('channel.name')} {versions.get(value('channel.name'), '')}".strip(),
        "topics of {} partitions": value("channel.partitions"),
        "acks {}": value("channel.acks"),
        "batches of {} bytes": value("channel.batch"),
        "linger {}": value("channel.linger"),
    }
    load = {"{} per case": value("duration"), "repetitions: {}": value("repeat")}
    found = {
        "machine": f"{known.get('machine', '')}, for everything together",
        "engine": known.get("system", ""),
        "broker": _together(broker),
        "database": versions.get("postgresql", ""),
        "java": versions.get("java", ""),
        "load": _together(load),
    }
    return {name: text for name, text in found.items() if text}


def _together(parts: dict[str, str]) -> str:
    return ", ".join(name.format(text) for name, text in parts.items() if text)


def _coverage(trials: list[TrialSummary]) -> Html:
    """Which functions of a stream processing system each query tests."""
    tested = {
        setting_text(trial.parameters.get(QUERY, "")): trial.functions
        for trial in trials
        if trial.functions
    }
    functions = list(dict.fromkeys(name for found in tested.values() for name in found))
    if not functions:
        return EMPTY
    rows = [
        (query, *(_YES if name in found else "" for name in functions))
        for query, found in tested.items()
    ]
    return joined(
        element("h3", "Functions that the queries test", style="margin-top:16px"),
        table(("query", *functions), rows),
    )
