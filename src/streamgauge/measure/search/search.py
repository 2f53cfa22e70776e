"""The search for the maximum sustainable throughput, as an object that is asked and told.

It starts nothing and knows no clock: `next` says which rate to offer, `tell` takes what came out.
The same outcomes told again lead to the same orders, so an interrupted search goes on where it
was.
"""

from __future__ import annotations

import math

from streamgauge.measure.search.probe import TOLERATED, ProbeOrder, ProbeOutcome, ProbeVerdict
from streamgauge.measure.search.result import Capacity, SearchResult, in_words
from streamgauge.measure.search.settings import SearchSettings

MOST_PROBES = 40
"""A system that needs more contradicts itself; what has passed by then is confirmed."""
LOWEST_PER_S = 1.0
"""A system that cannot do this is not measured but broken."""
ROOM = 0.35
"""So far below the estimate a rate is confirmed, as a share of the precision: the estimate leaves
stalls out, and at the capacity itself there would be nothing left to catch up with after one."""
REACH = 1.0
"""So far above the estimate a failed rate may lie to end the narrowing, as a share of the
precision."""
OPEN = 0.1
"""So few standard errors from a verdict all probes together leave a doubtful rate open."""
PATIENCE = 2
"""Without a budget of its own a search may take so many times as long as searches usually do."""
BESIDE = 1.2
"""Two rates are so near to each other that a third between them tells nothing new."""
SURE = 0.1
"""Where so large a share is not worked off, a rate fails by a saturation probe, short as it is."""


class Search:
    """Saturates the system to learn its capacity, narrows around it, confirms what is left."""

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings
        self._tries: list[ProbeOutcome] = []
        self._capacity = Capacity()
        self._passed: float | None = None
        self._failed: float | None = None
        self._confirmed: float | None = None
        self._finished = False
        self._saturate_at: float | None = self._rounded(settings.first_per_s)
        """The rate of the next probe that saturates, None when they are done."""
        self._kept_up: float | None = None
        self._overwhelmed: float | None = None
        self._try_again: float | None = None
        # Probes in a row that passed, and confirmations that failed: the steps grow with them.
        self._passes = 0
        self._misses = 0
        self._reopened = 0
        self._budget_us: float = math.inf
        self._budget_us = settings.budget_us or PATIENCE * self.remaining_us()

    def next(self) -> ProbeOrder | None:
        """What to offer next, None when the search is at its end; asking changes nothing."""
        settings = self._settings
        if self._finished:
            return None
        if self._saturate_at is not None and not self._spent:
            return ProbeOrder(self._saturate_at, settings.saturate_us, "saturate")
        narrow = self._narrowing_rate()
        if narrow is not None:
            return ProbeOrder(narrow, settings.probe_us, "narrow")
        candidate = self._candidate()
        if candidate is None:
            return None
        return ProbeOrder(candidate, settings.confirm_us, "confirm")

    def tell(self, outcome: ProbeOutcome) -> None:
        """Takes the outcome of what `next` ordered."""
        order = self.next()
        if order is None or (order.rate_per_s, order.kind) != (outcome.rate_per_s, outcome.kind):
            wanted = f"{order.kind} at {order.rate_per_s:,.0f}/s" if order else "nothing"
            raise ValueError(
                f"told of {outcome.kind} at {outcome.rate_per_s:,.0f}/s, but {wanted} was ordered"
            )
        self._tries.append(outcome)
        if outcome.kind == "saturate":
            self._told_of_saturation(outcome)
        elif outcome.kind == "narrow":
            self._told_of_narrowing(outcome)
        else:
            self._told_of_confirmation(outcome)

    @property
    def result(self) -> SearchResult:
        """What is known by now."""
        passed = max(self._passed or 0.0, self._confirmed or 0.0) or None
        result = SearchResult(
            maximum_sustainable_per_s=self._confirmed,
            passed=passed,
            failed=self._failed,
            tries=list(self._tries),
            confirmed=self._confirmed is not None,
            precise=self._precise(self._confirmed),
        )
        words = in_words(result, self._settings, self._capacity)
        return result.model_copy(update={"in_words": words})

    def remaining_us(self, overhead_per_probe_us: int = 0) -> int:
        """About how long the rest will take: what searches usually take, less what is done."""
        order, settings = self.next(), self._settings
        if order is None:
            return 0
        done = {kind: sum(t.kind == kind for t in self._tries) for kind in ("saturate", "narrow")}
        probes = load_us = 0.0
        if order.kind == "saturate":
            probes += (more := max(1.0, 2.2 - done["saturate"]))
            load_us += more * 0.6 * settings.saturate_us
        if order.kind != "confirm":
            usual = 1.5 + max(0.0, math.log2(0.05 / settings.precision))
            probes += (more := max(1.0, usual - done["narrow"]))
            load_us += more * settings.probe_us
        load_us = min(load_us, max(0, self._budget_us - self._spent_us))
        confirmations = 2.0  # a simulated system needs 1.2, Spark, whose state grows, one more
        load_us += confirmations * settings.confirm_us
        return round(load_us + (probes + confirmations) * overhead_per_probe_us)

    @property
    def _spent_us(self) -> int:
        return sum(t.length_us for t in self._tries)

    @property
    def _spent(self) -> bool:
        return self._spent_us >= self._budget_us or len(self._tries) >= MOST_PROBES

    @property
    def _estimate_per_s(self) -> float | None:
        """The capacity, as far as it agrees with what passed and what failed."""
        known = self._capacity.per_s or self._passed or self._failed
        if known is None:
            return None
        return min(max(known, self._passed or 0.0), self._failed or math.inf)

    def _precise(self, passed: float | None) -> bool:
        return (
            passed is not None
            and self._failed is not None
            and self._failed / passed <= 1 + self._settings.precision
        )

    def _told_of_saturation(self, outcome: ProbeOutcome) -> None:
        rate = outcome.rate_per_s
        if outcome.drained_per_s is not None and outcome.error is not None:
            self._capacity.add(outcome.drained_per_s, outcome.error)
            self._saturate_at = None
            if outcome.verdict == "failed" and 1 - outcome.drained_per_s / rate > SURE:
                self._failed = rate
        elif outcome.verdict == "passed":
            self._kept_up = rate
            self._saturate_at = self._more(outcome)
        else:
            self._overwhelmed = rate
            self._saturate_at = self._less(outcome)

    def _more(self, outcome: ProbeOutcome) -> float | None:
        """A rate that saturates, we hope, a system that kept up with this one."""
        rate = outcome.rate_per_s
        if rate >= self._settings.highest:
            return None
        if self._overwhelmed is not None:
            return self._between(rate, self._overwhelmed)
        if outcome.drained_per_s is None:
            return self._rounded(4 * rate)
        # Just above what it was seen to drain: far above it the system drains less than it could,
        # in ever larger batches and beside a driver whose queues fill all memory; and what waits
        # must be drained. But ever further, or a small first guess would never grow.
        steps = len(self._kept_up_rates) - 1 if outcome.drained_per_s > rate else 1
        return self._rounded(max(1.15 * outcome.drained_per_s, 1.3**steps * rate))

    @property
    def _kept_up_rates(self) -> list[float]:
        return [t.rate_per_s for t in self._tries if (t.kind, t.verdict) == ("saturate", "passed")]

    def _less(self, outcome: ProbeOutcome) -> float | None:
        """A rate at which a system that was overwhelmed by this one shows what it can do."""
        rate = outcome.rate_per_s
        if self._kept_up is not None:
            return self._between(self._kept_up, rate)
        bound = outcome.drained_per_s
        less = self._rounded(rate / 4 if bound is None else min(bound, rate) / 2)
        if less < LOWEST_PER_S:
            self._finished = True
            return None
        return less

    def _between(self, low: float, high: float) -> float | None:
        middle = math.sqrt(low * high)
        if high / low > BESIDE:
            return self._rounded(middle)
        self._capacity.add(middle, high / low - 1)
        return None

    def _told_of_narrowing(self, outcome: ProbeOutcome) -> None:
        rate, growth = outcome.rate_per_s, outcome.growth
        self._learn(outcome, saturated=growth is not None and growth > 0)
        verdict = self._settled(outcome)
        self._try_again = rate if verdict == "doubtful" else None
        if verdict == "failed":
            self._failed = rate
            self._passes = 0
        elif verdict == "passed":
            self._passed = rate
            self._passes += 1

    def _learn(self, outcome: ProbeOutcome, *, saturated: bool) -> None:
        """A system with time to spare drains what is offered, which is less than it could."""
        if outcome.drained_per_s is None or outcome.error is None:
            return
        known = self._estimate_per_s
        if (outcome.verdict != "passed" and saturated) or (
            known is None or outcome.drained_per_s > known
        ):
            self._capacity.add(outcome.drained_per_s, outcome.error)

    def _settled(self, outcome: ProbeOutcome) -> ProbeVerdict:
        """What a doubtful probe leaves open all probes together settle, or it is repeated."""
        rate, growth = outcome.rate_per_s, outcome.growth
        if outcome.verdict != "doubtful":
            return outcome.verdict
        tried = sum(t.rate_per_s == rate and t.kind == "narrow" for t in self._tries)
        last = tried >= self._settings.attempts
        capacity = self._capacity.per_s
        if growth is None or capacity is None:
            return "failed" if last else "doubtful"
        if growth <= 0:
            return "passed"
        above = 1 - capacity / rate - TOLERATED * self._settings.precision
        if not last and abs(above) < OPEN * self._capacity.uncertainty:
            return "doubtful"
        return "failed" if above > 0 else "passed"

    def _told_of_confirmation(self, outcome: ProbeOutcome) -> None:
        rate = outcome.rate_per_s
        self._learn(outcome, saturated=True)
        if outcome.verdict == "passed":
            self._confirmed = rate
            self._finished = not self._has_room(rate)
            if not self._finished:
                self._passed, self._failed = rate, None
                self._reopened += 1
            return
        self._failed = rate
        self._misses += 1
        self._passes = 0
        if self._in_a_hurry or (self._passed is not None and self._passed >= rate):
            self._passed = self._confirmed
        self._finished = self._precise(self._confirmed)

    def _has_room(self, rate: float) -> bool:
        """So much faster than confirmed that the rate above it must have failed by bad luck."""
        settings, capacity = self._settings, self._capacity.per_s
        if self._spent or capacity is None or self._reopened >= settings.attempts - 1:
            return False
        aim = capacity * (1 - ROOM * settings.precision)
        return rate < settings.highest and aim > rate * (1 + 0.6 * settings.precision)

    def _narrowing_rate(self) -> float | None:
        """The next rate between what passed and what failed, None when it is narrow enough."""
        precision, capacity = self._settings.precision, self._estimate_per_s
        if self._spent or capacity is None or self._precise(self._passed):
            return None
        if self._try_again is not None:
            return self._try_again
        if self._failed is not None and self._failed <= capacity * (1 + REACH * precision):
            return None
        rate = capacity * (1 + 0.65 * precision)
        kept_up = self._kept_up or 0.0
        if self._passed is not None:
            step = 0.95 * precision * 2 ** max(0, self._passes - 2)
            rate = max(rate, self._passed * (1 + step))
        elif kept_up < (self._failed or math.inf):
            # A flood makes a system slower than it is: what it kept up with before counts, too.
            rate = max(rate, kept_up)
        if self._failed is not None:
            rate = min(rate, self._failed / (1 + 0.25 * precision))
        rate = self._rounded(rate)
        return rate if rate > (self._passed or 0.0) else None

    def _candidate(self) -> float | None:
        """The rate to confirm, None when there is none left."""
        precision, capacity = self._settings.precision, self._estimate_per_s
        if self._capacity.per_s is None and self._passed is None:
            lower = [rate for rate in self._kept_up_rates if rate < (self._failed or math.inf)]
            if lower:
                return self._above(max(lower))
        if capacity is None:
            return None
        rate = max(capacity * (1 - ROOM * precision), self._passed or 0.0)
        if self._failed is not None:
            if self._failed <= capacity * (1 + REACH * precision):
                rate = max(rate, self._failed / (1 + 0.98 * precision))
            below = self._failed / (1 + 0.25 * precision * 2 ** max(0, self._misses - 2))
            rate = min(rate, max(below, self._passed or 0.0))
            if self._in_a_hurry:
                rate = min(rate, self._worked_off_at_length * (1 - ROOM * precision))
        if rate < LOWEST_PER_S:
            return None
        rate = self._rounded(rate)
        return rate if rate > (self._confirmed or 0.0) else None

    def _above(self, kept_up: float) -> float:
        """Nothing says where between it and what failed at length the capacity lies."""
        if self._failed is None or self._failed < BESIDE * kept_up:
            return kept_up
        worked_off = self._worked_off_at_length * (1 - ROOM * self._settings.precision)
        return self._rounded(max(kept_up, min(worked_off, math.sqrt(kept_up * self._failed))))

    @property
    def _in_a_hurry(self) -> bool:
        """A confirmation failed, and there is no time for many: short probes overrate a system
        whose state does not grow to its size in them, so the next goes by what this one did."""
        return self._spent and self._misses > 0

    @property
    def _worked_off_at_length(self) -> float:
        """By the last confirmation that failed, if anybody could tell."""
        failed = [t for t in self._tries if t.kind == "confirm" and t.verdict != "passed"]
        return (failed[-1].drained_per_s if failed else None) or math.inf

    def _rounded(self, rate_per_s: float) -> float:
        """To five digits, as rates are read by people and stored; and never beyond the highest."""
        return min(float(f"{rate_per_s:.5g}"), self._settings.highest)


def estimated_us(settings: SearchSettings, overhead_per_probe_us: int = 0) -> int:
    """About how long a search will take."""
    return Search(settings).remaining_us(overhead_per_probe_us)
