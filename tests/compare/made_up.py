"""Runs that never happened, to be compared: single, repeated, swept and searched ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import Case, LatencyStatistics, StudySummary, TrialSummary

SHARES = {"min": 0.4, "p50": 0.9, "p90": 1.25, "p95": 1.4, "p99": 1.9, "p99_9": 2.4, "max": 3.0}


def statistics(mean_ms: float, **changes: Any) -> dict[str, Any]:
    """Latencies around a mean."""
    rest = {name: round(mean_ms * share, 1) for name, share in SHARES.items()}
    made = LatencyStatistics.model_validate({"count": 44_000, "mean": mean_ms, **rest, **changes})
    return made.model_dump()


def single(mean_ms: float = 800.0, drained: float = 99_000.0, **changes: Any) -> TrialSummary:
    """One measurement at a fixed rate that went well."""
    return TrialSummary.model_validate(
        {
            "name": "quickstart",
            "run": "2026-01-02-1-quickstart",
            "verdict": "valid",
            "sustained": True,
            "offered_per_s": 100_000.0,
            "drained_per_s": drained,
            "latency_ms": {
                "event_time": statistics(mean_ms),
                "processing_time": statistics(mean_ms / 2),
            },
            "validation": {
                "expected": 60_000,
                "actual": 60_000,
                **dict.fromkeys(("missing", "extra", "duplicate", "wrong", "late"), 0),
            },
            "input_hash": "0123456789abcdef",
            "versions": {"streamgauge": "0.1.0", "spark": "4.3.0", "python": "3.11.7"},
            "machine": {"cpu": "AMD EPYC 7763", "cores": 2, "memory_gb": 24.1},
            "parameters": {
                "name": "quickstart",
                "workload.query": "gaming.aggregation",
                "workload.window": "1 s",
                "load.rate": 100_000.0,
                "load.seed": 7,
                "system.name": "spark",
                "system.trigger": "1 s",
                "system.source": "Arrow Flight",
                "duration": "30 s",
            },
            "started_at": "2026-01-02T09:41:07+00:00",
            "resources": {
                role: {
                    "cpu_percent_mean": cpu,
                    "memory_mb_max": memory,
                    "disk_mb_written": 30.0,
                    "network_mb": 140.0,
                }
                for role, cpu, memory in (("system", 146.0, 3_070.0), ("driver", 4.3, 341.0))
            },
            **changes,
        }
    )


def study(trials: Sequence[TrialSummary], **changes: Any) -> StudySummary:
    """Trials together, as the runner puts them together."""
    groups: dict[str, list[int]] = {}
    for place, trial in enumerate(trials):
        groups.setdefault(repr(trial.varied), []).append(place)
    head = ("name", "run", "verdict", "sustained", "versions", "machine", "parameters")
    return StudySummary.model_validate(
        {
            **{name: getattr(trials[0], name) for name in (*head, "started_at")},
            "trials": list(trials),
            "cases": [_case(trials, places) for places in groups.values()],
            **changes,
        }
    )


def _case(trials: Sequence[TrialSummary], places: list[int]) -> Case:
    found = [trials[place] for place in places]
    latency = [trial.latency_ms.event_time for trial in found]
    growing = any(one.growing for one in latency)
    figures = {"drained_per_s": spread_of([trial.drained_per_s or 0 for trial in found])}
    if not growing:
        figures["event_time.mean"] = spread_of([one.mean or 0 for one in latency])
    if found[0].maximum_sustainable_per_s:
        maxima = [trial.maximum_sustainable_per_s or 0 for trial in found]
        figures["maximum_sustainable_per_s"] = spread_of(maxima)
    return Case(varied=found[0].varied, trials=places, figures=figures, growing=growing)


def repeated(means_ms: Sequence[float], **changes: Any) -> StudySummary:
    """Several trials of one case."""
    trials = [
        single(mean, 99_000.0 + 10 * number, repetition=number + 1)
        for number, mean in enumerate(means_ms)
    ]
    return study(trials, **changes)


def sweep(means_ms: Mapping[object, Sequence[float]], key: str, **changes: Any) -> StudySummary:
    """Several cases, each with its trials."""
    trials = [
        single(mean, varied={key: value}, repetition=number + 1)
        for value, means in means_ms.items()
        for number, mean in enumerate(means)
    ]
    parameters = {**trials[0].parameters, key: list(means_ms)}
    return study(trials, parameters=parameters, **changes)


def search(
    maximum: float, *, failed: float | None, mean_ms: float = 900.0, repeat: int = 1, **changes: Any
) -> StudySummary:
    """A search and its confirmation; repetitions share the one search."""
    found: dict[str, Any] = {
        "maximum_sustainable_per_s": maximum,
        "passed": maximum,
        "failed": failed,
    }
    trials = [single(mean_ms + 5 * number, **found) for number in range(repeat)]
    return study(trials, **found, **changes)
