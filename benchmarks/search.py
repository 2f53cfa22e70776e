"""How well and how fast the maximum sustainable throughput is found, on simulated systems.

Time is virtual. A simulated system works in batches: it pulls everything that waits, up to a bound,
and is busy with it for a fixed time and a time per event. Its capacity scatters from batch to
batch and drifts, its first batches are slow, and now and then it stalls. All of it is drawn from a
seed.

The truth is known analytically: the mean drain rate under saturation in the long run, which is the
rate of batches at their bound, less the share of time that is lost in stalls.

Further systems process continuously, with pauses that recur: 0 to 20 % of the time, once in 1 to
10 s, and latencies of up to 2 s, all with jitter. Half of them are observed by their pulls, half by
the frontier of their results. The truth is their rate less the share of their pauses.

Our probes end as they do in a run: by the judge, or by the policy of the driver instances.

Plain bisection, for comparison, halves the (geometric) range of 1 K to 50 M events/s, all that our
search may offer, until it is as narrow as the precision. Each of its probes lasts a minute and is
judged by the queue marks of the combined policy; to be kind to it, the policy is not shown the
first quarter of a probe, in which the system is cold. Both sides are charged the same overhead per
probe, in which a system that kept up drains what is left; only our search is also charged what it
takes to drain the backlog of the other probes.
"""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from benchmarks.results import Figure
from streamgauge.driver.config import PolicyConfig
from streamgauge.driver.observations import Basis, Observation
from streamgauge.driver.policies import CombinedPolicy, Policy, QueueMarks
from streamgauge.measure.search import (
    WARM_UP_US,
    ProbeJudge,
    ProbeOrder,
    Search,
    SearchSettings,
    judge_of,
)
from streamgauge.units import SECOND_US

SYSTEMS, ROUNDS = 200, 5
"""So many systems, so often: of 200 the share that is found changes by half a per cent."""
UNBOUNDED_SYSTEMS = 50
PAUSING_SYSTEMS = 200
MOST_PAUSED = 0.2
TICK_S = 0.05
OVERHEAD_S = 3.0
FULL_LENGTH_S = 60.0
LOWEST_PER_S, HIGHEST_PER_S = 1e3, 50e6
LOOK_S = 0.1
SAMPLE_S = 0.1
LEAST_STALL_S, MOST_STALL_S = 0.3, 1.5
SETTLED_S = 3.0
"""Without a bound, batches grow towards infinity as the rate nears the capacity; the rate at which
they settle at this length is taken for the truth then."""


class MicroBatchSystem:
    """A simulated system; its clock goes on from probe to probe."""

    def __init__(self, seed: str, *, bounded: bool = True) -> None:
        draw = self._random = random.Random(seed)
        self._per_s = math.exp(draw.uniform(math.log(20e3), math.log(10e6)))
        self._fixed_s = draw.uniform(0.1, 0.4)
        self._bound_s = math.exp(draw.uniform(math.log(0.7), math.log(2.7))) if bounded else None
        self._noise = 0.05
        self._drift, self._period_s = 0.02, draw.uniform(60, 300)
        self._phase = draw.uniform(0, 2 * math.pi)
        self._first_s = draw.uniform(0.5, 4.5)
        self._cold, self._warms_up_in_s = draw.uniform(0.2, 0.5), draw.uniform(1, 3)
        self._planning_s = draw.uniform(0.03, 0.12)
        self._stall_every_s = draw.uniform(20, 60)
        self._clock_s = draw.uniform(0, 300)
        self._next_stall_s = self._clock_s + draw.expovariate(1 / self._stall_every_s)

    @property
    def truth_per_s(self) -> float:
        busy_s = SETTLED_S - self._fixed_s if self._bound_s is None else self._bound_s
        stall_s = (LEAST_STALL_S + MOST_STALL_S) / 2
        at_work = self._stall_every_s / (self._stall_every_s + stall_s)
        return self._per_s * busy_s / (busy_s + self._fixed_s) * at_work

    @property
    def most_per_batch(self) -> float:
        return math.inf if self._bound_s is None else self._bound_s * self._per_s

    def offer(self, rate_per_s: float) -> Load:
        return MicroBatchLoad(self, rate_per_s)

    def judge(self, order: ProbeOrder, precision: float) -> ProbeJudge:
        return judge_of(order, precision, Basis.PULLED)

    def pass_time(self, seconds: float) -> None:
        self._clock_s += seconds

    def pulled_after_s(self, batch_s: float) -> float:
        return min(self._planning_s, batch_s / 2)

    def batch_s(self, at_s: float, events: int) -> float:
        """How long a batch takes that begins so long after the start of the load."""
        start_s = self._clock_s + at_s
        angle = 2 * math.pi * start_s / self._period_s + self._phase
        speed = 1 + self._drift * math.sin(angle)
        speed *= 1 - self._cold * math.exp(-at_s / self._warms_up_in_s)
        noise = 1 + self._random.uniform(-self._noise, self._noise)
        first_s = self._first_s if at_s == 0 else 0.0
        busy_s = first_s + (self._fixed_s + events / self._per_s) * noise / speed
        return self._with_stalls(start_s, busy_s)

    def _with_stalls(self, start_s: float, busy_s: float) -> float:
        end_s = start_s + busy_s
        while self._next_stall_s < end_s:
            stall_s = self._random.uniform(LEAST_STALL_S, MOST_STALL_S)
            if self._next_stall_s >= start_s:
                end_s += stall_s
            pause_s = self._random.expovariate(1 / self._stall_every_s)
            self._next_stall_s += stall_s + pause_s
        return end_s - start_s


class Load(ABC):
    """A constant rate offered to a system from now on."""

    def __init__(self, rate_per_s: float) -> None:
        self._rate_per_s = rate_per_s

    @abstractmethod
    def look(self, time_s: float) -> Observation:
        """The observation at that moment, all sources together."""

    @abstractmethod
    def end(self, time_s: float) -> float:
        """Ends the load; how long it takes to drain what is left."""

    def judged(self, policy: Policy, after_s: float, until_s: float) -> str | None:
        """The first objection of a policy to the queue."""
        first, last = (math.floor(round(t / SAMPLE_S, 6)) for t in (after_s, until_s))
        for tick in range(first + 1, last + 1):
            objection = policy.judge(self.look(tick * SAMPLE_S))
            if objection is not None:
                return objection
        return None


class MicroBatchLoad(Load):
    """A load of a system that works in batches."""

    def __init__(self, system: MicroBatchSystem, rate_per_s: float) -> None:
        super().__init__(rate_per_s)
        self._system = system
        self._pulls: list[tuple[float, int]] = [(0.0, 0)]
        """When a pull shows, and how much has been drained then."""
        self._next_batch_s = 0.0

    def look(self, time_s: float) -> Observation:
        while self._next_batch_s <= time_s:
            self._work(self._rate_per_s * self._next_batch_s)
        last = bisect_right(self._pulls, time_s, key=lambda pull: pull[0]) - 1
        pulled_s, drained = self._pulls[last]
        offered = int(self._rate_per_s * time_s)
        return Observation(
            source="",
            time_us=round(time_s * SECOND_US),
            offered=offered,
            taken=min(offered, drained),
            finished=self._pulls[max(0, last - 1)][1],
            taken_at_us=round(pulled_s * SECOND_US),
        )

    def end(self, time_s: float) -> float:
        offered = self._rate_per_s * time_s
        while self._pulls[-1][1] < int(offered):
            self._work(offered)
        return max(0.0, self._next_batch_s - time_s)

    def _work(self, offered: float) -> None:
        drained = self._pulls[-1][1]
        waiting = max(0, int(offered) - drained)
        events = int(min(waiting, self._system.most_per_batch))
        busy_s = self._system.batch_s(self._next_batch_s, events)
        shows_s = self._next_batch_s + self._system.pulled_after_s(busy_s)
        self._pulls.append((shows_s, drained + events))
        self._next_batch_s += busy_s


class PausingSystem:
    """A simulated system that processes continuously, with pauses that recur."""

    def __init__(self, seed: str) -> None:
        draw = self.random = random.Random(seed)
        self.per_s = math.exp(draw.uniform(math.log(20e3), math.log(10e6)))
        self._share = draw.uniform(0, MOST_PAUSED)
        self._every_s = math.exp(draw.uniform(math.log(1), math.log(10)))
        self.latency_s = draw.uniform(0, 2)
        self.jitter = draw.uniform(0, 0.2)
        self.first_s = draw.uniform(0, 2)
        self.by_results = draw.random() < 0.5
        self.slide_s = draw.uniform(0.25, 1)
        self._clock_s = draw.uniform(0, 300)
        self._pause: tuple[float, float] = (0.0, 0.0)

    @property
    def truth_per_s(self) -> float:
        return self.per_s * (1 - self._share)

    def offer(self, rate_per_s: float) -> Load:
        return PausingLoad(self, rate_per_s)

    def judge(self, order: ProbeOrder, precision: float) -> ProbeJudge:
        return judge_of(order, precision, Basis.FRONTIER if self.by_results else Basis.PULLED)

    def pass_time(self, seconds: float) -> None:
        self._clock_s += seconds

    def paused(self, at_s: float) -> bool:
        """Whether it pauses so long after the start of the load."""
        now_s = self._clock_s + at_s
        while now_s >= self._pause[1]:
            number = (
                max(
                    0,
                    math.floor(self._pause[1] / self._every_s),
                    math.floor(now_s / self._every_s) - 1,
                )
                + 1
            )
            start_s = (number + self.random.uniform(0, self.jitter)) * self._every_s
            length_s = self._share * self._every_s * (1 + self.random.uniform(-1, 1) * self.jitter)
            self._pause = start_s, start_s + length_s
        return now_s >= self._pause[0]


class PausingLoad(Load):
    """A load of a system that pauses, computed tick by tick."""

    def __init__(self, system: PausingSystem, rate_per_s: float) -> None:
        super().__init__(rate_per_s)
        self._system = system
        self._pulls: list[tuple[float, int]] = [(0.0, 0)]
        """When it pulled, and how much it has taken since the start."""
        self._results: list[tuple[float, int]] = [(0.0, 0)]
        """When a result arrives, and how many events are reflected by then."""
        self._ticks = 0

    def look(self, time_s: float) -> Observation:
        while self._ticks * TICK_S <= time_s:
            self._work(self._rate_per_s * self._ticks * TICK_S)
        steps = self._results if self._system.by_results else self._pulls
        last = bisect_right(steps, time_s, key=lambda step: step[0]) - 1
        at_s, taken = steps[last]
        return Observation(
            source="",
            time_us=round(time_s * SECOND_US),
            offered=int(self._rate_per_s * time_s),
            taken=taken,
            finished=taken if self._system.by_results else steps[max(0, last - 1)][1],
            taken_at_us=round(at_s * SECOND_US),
        )

    def end(self, time_s: float) -> float:
        offered = int(self._rate_per_s * time_s)
        while self._pulls[-1][1] < offered:
            self._work(offered)
        return max(0.0, self._ticks * TICK_S - time_s)

    def _work(self, offered: float) -> None:
        system, now_s = self._system, self._ticks * TICK_S
        self._ticks += 1
        taken = self._pulls[-1][1]
        waiting = int(offered) - taken
        if now_s < system.first_s or waiting <= 0 or system.paused(now_s):
            return
        noise = 1 + system.random.uniform(-1, 1) * system.jitter
        taken += min(waiting, int(system.per_s * TICK_S * noise))
        self._pulls.append((now_s, taken))
        # A result arrives for every window that is complete.
        complete = math.floor(taken / self._rate_per_s / system.slide_s) * system.slide_s
        reflected = int(complete * self._rate_per_s)
        if reflected > self._results[-1][1]:
            late_s = system.latency_s * (1 + system.random.uniform(-1, 1) * system.jitter)
            arrives_s = max(now_s + late_s, self._results[-1][0])
            self._results.append((arrives_s, reflected))


@dataclass(frozen=True)
class Found:
    rate_per_s: float
    seconds: float
    probes: int
    interval: tuple[float, float] = (0.0, 0.0)
    """The stated interval of the capacity."""

    def covers(self, truth_per_s: float) -> bool:
        return self.interval[0] <= truth_per_s <= self.interval[1]


def search(
    system: MicroBatchSystem | PausingSystem, settings: SearchSettings, draw: random.Random
) -> Found:
    """Our search."""
    ours = Search(settings)
    seconds = 0.0
    while (order := ours.next()) is not None:
        load = system.offer(order.rate_per_s)
        judge = system.judge(order, settings.precision)
        policy = _policy(order) if order.kind != "saturate" else None
        delay_s = draw.uniform(0, LOOK_S)
        time_s, verdict, objection = 0.0, None, None
        while verdict is None and objection is None and time_s * SECOND_US < order.length_us:
            if policy is not None:
                objection = load.judged(policy, time_s, time_s + LOOK_S)
            time_s += LOOK_S
            verdict = judge.look(load.look(time_s - delay_s))
        outcome = judge.finish(objection)
        ours.tell(outcome)
        drain_s = load.end(time_s)
        system.pass_time(time_s + drain_s + OVERHEAD_S)
        seconds += time_s + OVERHEAD_S + (drain_s if outcome.verdict != "passed" else 0.0)
    result = ours.result
    interval = result.interval_per_s or (0.0, 0.0)
    return Found(result.maximum_sustainable_per_s or 0.0, seconds, len(result.tries), interval)


def _policy(order: ProbeOrder) -> Policy:
    """As the driver instances of a search have it."""
    config = PolicyConfig(settles_us=WARM_UP_US)
    events = int(order.rate_per_s * order.length_us / SECOND_US)
    return config.build(config.marks(events, order.length_us))


def bisect(system: MicroBatchSystem, precision: float) -> Found:
    """Plain bisection with full-length probes."""
    low, high, probes = LOWEST_PER_S, HIGHEST_PER_S, 0
    while high / low > 1 + precision:
        rate = math.sqrt(low * high)
        low, high = (rate, high) if _held(system, rate) else (low, rate)
        probes += 1
    return Found(low, probes * (FULL_LENGTH_S + OVERHEAD_S), probes)


def _held(system: MicroBatchSystem, rate_per_s: float) -> bool:
    load = system.offer(rate_per_s)
    policy = CombinedPolicy(QueueMarks.of(int(rate_per_s * FULL_LENGTH_S)))
    held = load.judged(policy, FULL_LENGTH_S / 4, FULL_LENGTH_S) is None
    # Its backlog is gone when the next probe begins, and nobody is charged for it.
    system.pass_time(FULL_LENGTH_S + OVERHEAD_S)
    return held


def measure_search(_: Path, seed: int = 1) -> Iterator[Figure]:
    """The search for the maximum sustainable throughput, on simulated systems of known capacity."""
    settings = SearchSettings(confirm_us=round(FULL_LENGTH_S * SECOND_US), highest=HIGHEST_PER_S)
    precision = settings.precision
    names = [f"{seed}/{number}" for number in range(ROUNDS * SYSTEMS)]
    truths = [MicroBatchSystem(name).truth_per_s for name in names]
    ours = [search(MicroBatchSystem(name), settings, random.Random(name)) for name in names]
    plain = [bisect(MicroBatchSystem(name), precision) for name in names]

    def right(found: list[Found]) -> list[float]:
        near = [abs(f.rate_per_s - t) <= precision * t for f, t in zip(found, truths, strict=True)]
        return [100 * fmean(near[i : i + SYSTEMS]) for i in range(0, len(near), SYSTEMS)]

    within = f"within {100 * precision:g} % of the truth"
    yield Figure(f"found {within}, {ROUNDS * SYSTEMS:,} systems", fmean(right(ours)), "%", least=98)
    yield Figure(f"found {within}, the worst {SYSTEMS} of them", min(right(ours)), "%", least=98)
    ratio = sum(f.seconds for f in ours) / sum(f.seconds for f in plain)
    yield Figure("total time, ratio to plain bisection", ratio, "×", most=1 / 3)
    yield Figure("time per search, median", median(f.seconds for f in ours), "s")
    yield Figure("probes per search, median", median(f.probes for f in ours))
    yield Figure("plain bisection: within the same of the truth", fmean(right(plain)), "%")
    yield Figure("plain bisection: time", median(f.seconds for f in plain), "s")
    unbounded = [f"{seed}/unbounded/{number}" for number in range(UNBOUNDED_SYSTEMS)]
    shares = [
        search(MicroBatchSystem(name, bounded=False), settings, random.Random(name)).rate_per_s
        / MicroBatchSystem(name, bounded=False).truth_per_s
        for name in unbounded
    ]
    yield Figure(
        f"batches without a bound: found, of the rate with batches of {SETTLED_S:g} s (median)",
        median(shares),
        "×",
    )
    yield from _measure_pausing(settings, seed)


def _measure_pausing(settings: SearchSettings, seed: int) -> Iterator[Figure]:
    names = [f"{seed}/pausing/{number}" for number in range(PAUSING_SYSTEMS)]
    truths = [PausingSystem(name).truth_per_s for name in names]
    found = [search(PausingSystem(name), settings, random.Random(name)) for name in names]
    pairs = list(zip(found, truths, strict=True))
    errors = [100 * (one.rate_per_s / truth - 1) for one, truth in pairs]
    within = 100 * fmean(abs(error) <= 100 * settings.precision for error in errors)
    covered = 100 * fmean(one.covers(truth) for one, truth in pairs)
    name = f"{PAUSING_SYSTEMS} systems with recurring pauses"
    yield Figure(f"{name}: mean error, absolute", abs(fmean(errors)), "%", most=2)
    yield Figure(f"{name}: within the precision", within, "%", least=95)
    yield Figure(f"{name}: stated interval covers", covered, "%", least=90)
    yield Figure(f"{name}: time, median", median(f.seconds for f in found), "s")
