"""Studies that never happened, for tests of their report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streamgauge.compare.beside import published_beside
from streamgauge.compare.published import published_table
from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import (
    Case,
    Latency,
    Published,
    Resources,
    ResourceSeries,
    Series,
    StudySummary,
    TrialSummary,
    Try,
)
from streamgauge.report.study import render_study

from . import samples
from .page import Page

MAXIMUM = "maximum_sustainable_per_s"
STATISTICS = ("mean", "min", "max", "p50", "p90", "p95", "p99", "p99_9")
HOSTILE = "</script><b id='evil'>&\"'<!--"
Varied = dict[str, object]


def tries(maximum: float = 2_130_000) -> list[Try]:
    """A search that saturates, narrows and confirms."""
    steps = (
        (8.0, "saturate", "failed", 8, "the queue passed q_b"),
        (0.9, "narrow", "passed", 20, ""),
        (1.15, "narrow", "failed", 9, "the queue grew at every look"),
        (1.05, "narrow", "doubtful", 20, "the queue grew by 0.4 % of the rate"),
        (1.05, "narrow", "failed", 20, "the queue grew at every look"),
        (1.0, "narrow", "passed", 20, ""),
        (1.0, "confirm", "passed", 60, ""),
    )
    return [
        Try(
            rate_per_s=share * maximum,
            kind=kind,
            verdict=verdict,
            length_s=length_s,
            drained_per_s=min(share, 1.03) * maximum,
            reason=reason,
        )
        for share, kind, verdict, length_s, reason in steps
    ]


def searched(maximum: float = 2_130_000) -> dict[str, Any]:
    return {
        MAXIMUM: maximum,
        "passed": maximum,
        "failed": 1.05 * maximum,
        "tries": tries(maximum),
        "confidence": "confirmed by a trial of 60 s; the maximum lies within 5 % above it",
    }


def trial(place: str, varied: Varied, *, slower: float = 1.0, **changes: Any) -> TrialSummary:
    """The sample run as a trial, its latencies times `slower`."""
    data = samples.summary().model_dump()
    for kind in ("event_time", "processing_time"):
        statistics = data["latency_ms"][kind]
        statistics |= {name: slower * statistics[name] for name in STATISTICS}
    return TrialSummary.model_validate({**data, "run": place, "varied": varied, **changes})


def grouped(trials: Sequence[TrialSummary]) -> list[Case]:
    """The trials of equal varied values as cases."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(trials):
        places.setdefault(repr(one.varied), []).append(place)
    return [_case([trials[place] for place in group], group) for group in places.values()]


def _case(trials: Sequence[TrialSummary], places: list[int]) -> Case:
    growing = any(one.latency_ms.event_time.growing for one in trials)
    names = ["offered_per_s", "drained_per_s", "processed_per_s", MAXIMUM]
    names += [f"{kind}.{name}" for kind in ("event_time", "processing_time") for name in STATISTICS]
    figures = {}
    for name in names:
        values = [value for one in trials if (value := _value(one, name)) is not None]
        if values and not (growing and name.endswith(".mean")):
            figures[name] = spread_of(values)
    return Case(varied=trials[0].varied, trials=places, figures=figures, growing=growing)


def _value(one: TrialSummary, name: str) -> float | None:
    kind, _, statistic = name.rpartition(".")
    found: float | None = getattr(getattr(one.latency_ms, kind) if kind else one, statistic)
    return found


def study(form: str, trials: Sequence[TrialSummary], **changes: Any) -> StudySummary:
    """A study of these trials."""
    only_of_trials = {"driver", "monitor", "functions", "varied", "repetition"}
    base = samples.summary().model_dump(exclude=only_of_trials)
    summary = StudySummary.model_validate(
        {
            **base,
            "name": f"{form}-study",
            "run": f"2026-07-14-4-{form}",
            "latency_ms": Latency(),
            "resources": {},
            "phases_s": {"study": 731.0},
            "thresholds": base["thresholds"][:1],
            "command": f"streamgauge run {form}",
            "trials": list(trials),
            "cases": grouped(trials),
            "figure": form,
        }
    )
    return summary.model_copy(update=changes)


def two_cases(**changes: Any) -> list[TrialSummary]:
    return [
        trial("trials/01", {"workload.skew": "none"}, **changes),
        trial("trials/02", {"workload.skew": "single key"}, slower=2, **changes),
    ]


def stored(summary: StudySummary, run: Path, series: Series | None = None) -> Path:
    """The directory of a study whose trials all have a series and a report."""
    for one in summary.trials:
        folder = run / one.run
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "series.json").write_text((series or samples.series()).model_dump_json())
        (folder / "report.html").write_text("<!DOCTYPE html>")
    return run


def with_workers() -> Series:
    """A cluster: the nodes are roles besides driver, system and sink."""
    series = samples.series()
    roles = series.resources.roles
    nodes = {
        f"worker {number}": ResourceSeries(
            cpu_percent=[number * value / 2 for value in roles["system"].cpu_percent],
            network_mb_per_s=[number * value for value in roles["system"].network_mb_per_s],
        )
        for number in (1, 2, 3, 4)
    }
    resources = Resources(time_s=series.resources.time_s, roles={**nodes, **roles})
    return series.model_copy(update={"resources": resources})


def published_latency() -> list[Published]:
    cells = {
        "spark, 2 nodes": (3673, 2537, 8596, 4603, 4953, 5990),
        "spark, 4 nodes": (3394, 1987, 6994, 4076, 4315, 4955),
        "Spark at 90 % of its maximum, 2 nodes": (3416, 2354, 8005, 3936, 4550, 5443),
    }
    return [
        Published(label=label, figure=f"event_time.{name}", value=value, ours=1_500.0)
        for label, values in cells.items()
        for name, value in zip(("mean", "min", "max", "p90", "p95", "p99"), values, strict=True)
    ]


def page_of(summary: StudySummary, run: Path) -> Page:
    return Page(render_study(summary, run))


def search_study(**changes: Any) -> StudySummary:
    only = trial("searches/01/probe-07", {}, offered_per_s=2_130_000.0, **searched())
    return study("cases", [only], **{**searched(), **changes})


def throughput_study() -> StudySummary:
    trials = [
        trial(f"searches/{n:02d}/probe-07", {"system.executors": n}, **searched(maximum))
        for n, maximum in ((1, 1_200_000.0), (2, 2_130_000.0))
    ]
    beside = [
        Published(label="storm, 2 nodes", figure=MAXIMUM, value=408_000),
        Published(label="spark, 2 nodes", figure=MAXIMUM, value=379_000, ours=1_200_000.0),
        Published(label="spark, 8 nodes", figure=MAXIMUM, value=912_000, note="network-bound"),
    ]
    return study(
        "throughput",
        trials,
        paper="Table 2: maximum sustainable throughput, windowed aggregation",
        published=beside,
    )


def latency_study() -> StudySummary:
    trials = [
        trial("trials/01", {"load.rate": "100 %"}),
        trial("trials/02", {"load.rate": "90 %"}, slower=0.5),
    ]
    return study(
        "latency",
        trials,
        paper="Table 1: latency at the sustainable rate and at 90 % of it",
        published=published_latency(),
    )


def two_times_study() -> StudySummary:
    beside = [
        Published(label="spark, 4 nodes", figure="event_time.mean", value=3_394, ours=1_423.7),
        Published(label="spark, 4 nodes", figure="processing_time.mean", value=1_040, ours=702.1),
    ]
    return study(
        "two-times",
        two_cases(),
        paper="Fig. 6: event time against system time",
        published=beside,
    )


def queries_study() -> StudySummary:
    """Two queries at two rates, the second of which is too high for one of them."""
    functions = {"espbench.q1": ["windowing", "aggregation"], "espbench.q3": ["filter"]}
    trials = [
        trial(
            f"trials/{query}-{rate:.0f}-{repetition}",
            {"workload.query": query, "load.rate": rate},
            functions=functions[query],
            parameters={"workload.query": query},
            repetition=repetition,
        )
        for rate in (1_000.0, 10_000.0)
        for query in functions
        for repetition in (1, 2)
    ]
    growing = trials[-1].latency_ms.event_time.model_copy(update={"growing": True})
    latency = trials[-1].latency_ms.model_copy(update={"event_time": growing})
    trials[-1] = trials[-1].model_copy(update={"latency_ms": latency, "sustained": False})
    cases = grouped(trials)
    table = "espbench"
    return study(
        "queries",
        trials,
        paper="Table 4.4: latencies of ESPBench",
        published=published_beside(table, cases),
        publication=published_table(table).publication,
    )
