"""A realistic run to report on, and the ways in which runs go wrong."""

from __future__ import annotations

import math
import random

from streamgauge.measure.summary import (
    Histogram,
    InstanceSummary,
    Latency,
    LatencySeries,
    LatencyStatistics,
    MonitorCost,
    PullSeries,
    Resources,
    ResourceSeries,
    ResourceSummary,
    Series,
    ThresholdResult,
    TrialSummary,
    Validation,
    Verdict,
)

LOAD_S = 60
RATE_PER_S = 100_000


def summary() -> TrialSummary:
    """A valid, sustained run of a windowed aggregation on two cores."""
    return TrialSummary(
        name="aggregation-latency",
        run="2026-07-14-3-aggregation-latency",
        verdict=Verdict.VALID,
        sustained=True,
        offered_per_s=100_000.0,
        drained_per_s=99_873.4,
        processed_per_s=100_012.6,
        latency_ms=Latency(
            event_time=LatencyStatistics(
                count=11_000,
                mean=1423.7,
                min=612.2,
                max=4210.9,
                p50=1384.0,
                p90=1990.4,
                p95=2231.8,
                p99=3120.5,
                p99_9=4011.2,
            ),
            processing_time=LatencyStatistics(
                count=11_000,
                mean=702.1,
                min=288.4,
                max=2711.0,
                p50=664.9,
                p90=981.3,
                p95=1120.0,
                p99=1714.6,
                p99_9=2555.5,
            ),
        ),
        validation=Validation(
            expected=15_000,
            actual=15_000,
            missing=0,
            extra=0,
            duplicate=0,
            wrong=0,
            late=0,
            oracle="gaming.aggregation oracle, in NumPy, on Spark",
            input_matches=True,
        ),
        thresholds=[
            ThresholdResult(expression="event_time.p99 < 5 s", value=3120.5, passed=True),
            ThresholdResult(expression="event_time.p50 < 1 s", value=1384.0, passed=False),
            ThresholdResult(expression="validation.missing == 0", value=0.0, passed=True),
        ],
        input_hash="xxh3:5f0c7a4be1d29c3386b7aa10f4d9e2c1",
        seed=7,
        versions={
            "streamgauge": "0.1.0",
            "spark": "4.3.0",
            "python": "3.11.2",
            "java": "21.0.5",
            "pyarrow": "21.0.0",
            "numpy": "2.3.1",
        },
        machine={
            "cpu": "AMD EPYC 7763 64-Core Processor",
            "cores": 2,
            "memory_mb": 24_103.7,
            "system": "Linux 6.1.0-31-amd64 x86_64",
        },
        parameters={
            "name": "aggregation-latency",
            "about": "Latency of a windowed aggregation at a fixed rate",
            "workload.query": "gaming.aggregation",
            "workload.keys": 1000,
            "workload.distribution": "normal",
            "workload.window_s": 8.0,
            "workload.slide_s": 4.0,
            "load.rate_per_s": RATE_PER_S,
            "load.schedule": "constant",
            "load.instances": 2,
            "load.seed": 7,
            "system.name": "spark",
            "system.master": "local[2]",
            "system.trigger_ms": 1000,
            "system.settings": {"spark.sql.shuffle.partitions": 2},
            "channel": "direct",
            "duration_s": 60.0,
            "warm_up_s": 15.0,
        },
        command="streamgauge run aggregation-latency --set 'system.master=local[2]'",
        started_at="2026-07-14T09:41:07+00:00",
        phases_s={
            "plan": 0.02,
            "start driver": 0.9,
            "start system": 9.8,
            "load": 60.1,
            "drain": 3.4,
            "measure": 12.7,
            "stop": 0.8,
        },
        driver=[
            InstanceSummary(
                instance=index,
                stream="purchases",
                offered=3_000_000,
                drained=2_996_200,
                queue_max=queue_max,
                queue_limits=(150_000, 300_000, 900_000),
                lag_p99_ms=lag,
            )
            for index, queue_max, lag in ((0, 91_204, 2.3), (1, 188_770, 11.8))
        ],
        resources={
            "system": ResourceSummary(
                cpu_percent_mean=142.3, memory_mb_max=2288.0, disk_mb_written=61.5, network_mb=144.0
            ),
            "driver": ResourceSummary(
                cpu_percent_mean=21.7, memory_mb_max=412.8, disk_mb_written=1.2, network_mb=144.0
            ),
            "sink": ResourceSummary(
                cpu_percent_mean=1.1, memory_mb_max=88.1, disk_mb_written=0.9, network_mb=None
            ),
        },
        monitor=MonitorCost(cpu_percent=0.8, samples=612),
    )


def series() -> Series:
    """What such a run draws: queues that fill and empty with every micro-batch."""
    dice = random.Random(7)
    return Series(
        load_s=LOAD_S,
        warm_up_s=15,
        latency=_latency(dice),
        histogram=_histogram(),
        pull=_pull(dice),
        resources=_resources(dice),
    )


def _latency(dice: random.Random) -> LatencySeries:
    times = list(range(0, LOAD_S - 4))
    base = [1350 + 1400 * math.exp(-at / 5) + 90 * math.sin(at / 3) for at in times]
    p50 = [value + dice.uniform(-60, 60) for value in base]
    p99 = [value * 1.5 + dice.uniform(0, 380) for value in base]
    seen = [at % 17 != 11 for at in times]
    return LatencySeries(
        time_s=[float(at) for at in times],
        event_time_p50=_where(seen, p50),
        event_time_p99=_where(seen, p99),
        event_time_max=_where(seen, [value + dice.uniform(50, 700) for value in p99]),
        processing_time_p50=_where(seen, [value / 2.1 for value in p50]),
        processing_time_p99=_where(seen, [value / 1.9 for value in p99]),
    )


def _where(seen: list[bool], values: list[float]) -> list[float | None]:
    return [value if there else None for there, value in zip(seen, values, strict=True)]


def _histogram() -> Histogram:
    edges = [10 * 10 ** (step / 12) for step in range(40)]

    def counts(middle_ms: float) -> list[int]:
        return [
            round(2600 * math.exp(-((math.log(edge / middle_ms) / 0.33) ** 2)))
            for edge in edges[1:]
        ]

    return Histogram(edges_ms=edges, event_time=counts(1400), processing_time=counts(680))


def _pull(dice: random.Random) -> PullSeries:
    times = [step / 10 for step in range(LOAD_S * 10)]
    queued, waiting, drained = [], 0.0, []
    for step in range(len(times)):
        waiting += RATE_PER_S / 10
        pulled = waiting * dice.uniform(0.93, 1) if step % 10 == 7 and step > 30 else 0.0
        waiting -= pulled
        drained.append(pulled * 10)
        queued.append(waiting)
    return PullSeries(
        time_s=times,
        offered_per_s=[RATE_PER_S + dice.uniform(-400, 400) for _ in times],
        drained_per_s=drained,
        queued=queued,
    )


def _resources(dice: random.Random) -> Resources:
    times = [step / 2 for step in range(-6, LOAD_S * 2 + 8)]

    def use(cpu: float, memory: float, growth: float) -> ResourceSeries:
        return ResourceSeries(
            cpu_percent=[
                max(0.0, cpu * (1.3 if at < 9 else 1) + dice.gauss(0, cpu / 9)) for at in times
            ],
            memory_mb=[memory + growth * math.log1p(max(0.0, at)) for at in times],
            disk_mb_per_s=[dice.uniform(0, 2) for _ in times],
            network_mb_per_s=[dice.uniform(2, 3) for _ in times],
        )

    return Resources(
        time_s=times,
        roles={
            "system": use(142, 1100, 290),
            "driver": use(22, 330, 20),
            "sink": use(1.2, 85, 1),
        },
    )
