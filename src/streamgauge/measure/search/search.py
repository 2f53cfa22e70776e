"""The search for the maximum sustainable throughput, as an object that is asked and told.

It starts nothing and has no clock: `next` returns the probe to run, `tell` takes its outcome. The
same outcomes lead to the same orders, so an interrupted search continues where it was.

A search has these states:

- warm up: before the first probe. It depends on the running system and not on outcomes, so the
  runner does it, and every judge leaves out the first seconds of a probe.
- saturate: looks for a rate that the system does not keep up with, for a first estimate.
- narrow: offers rates near the estimate until one above it has failed.
- confirm: offers a rate below the estimate for the full length. If it fails, a lower one follows.
"""

from __future__ import annotations

import math

from streamgauge.measure.search.estimate import Estimate, combined
from streamgauge.measure.search.probe import ProbeKind, ProbeOrder, ProbeOutcome, ProbeVerdict
from streamgauge.measure.search.result import SearchResult, in_words
from streamgauge.measure.search.settings import CONSTANTS as C
from streamgauge.measure.search.settings import SearchSettings


class Search:
    """Decides which rate is offered next, from the outcomes so far."""

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings
        self._tries: list[ProbeOutcome] = []
        self._capacity: Estimate | None = None
        self._passed: float | None = None
        self._failed: float | None = None
        self._confirmed: float | None = None
        # Probes in a row that passed, and confirmations that failed: the steps grow with them.
        self._passes = 0
        self._misses = 0
        self._reopened = 0
        self._order: ProbeOrder | None = self._ordered("saturate", settings.first_per_s)
        self._budget_us: float = math.inf
        self._budget_us = settings.budget_us or C.patience * self.remaining_us()

    def next(self) -> ProbeOrder | None:
        """The next probe, None at the end of the search."""
        return self._order

    def tell(self, outcome: ProbeOutcome) -> None:
        """Takes the outcome of the probe that `next` returned."""
        order = self._order
        if order is None or (order.rate_per_s, order.kind) != (outcome.rate_per_s, outcome.kind):
            wanted = f"{order.kind} at {order.rate_per_s:,.0f}/s" if order else "nothing"
            raise ValueError(
                f"told of {outcome.kind} at {outcome.rate_per_s:,.0f}/s, but {wanted} was ordered"
            )
        self._tries.append(outcome)
        self._capacity = combined(self._tries)
        after = {
            "saturate": self._after_saturation,
            "narrow": self._after_narrowing,
            "confirm": self._after_confirmation,
        }
        self._order = after[outcome.kind](outcome)

    @property
    def result(self) -> SearchResult:
        """What is known so far."""
        result = SearchResult(
            maximum_sustainable_per_s=self._confirmed,
            passed=max(self._passed or 0.0, self._confirmed or 0.0) or None,
            failed=self._failed,
            tries=list(self._tries),
            confirmed=self._confirmed is not None,
            precise=self._precise(self._confirmed),
            interval_per_s=self._capacity.interval_per_s if self._capacity else None,
        )
        words = in_words(result, self._settings, self._capacity)
        return result.model_copy(update={"in_words": words})

    def remaining_us(self, overhead_per_probe_us: int = 0) -> int:
        """About how long the rest takes: the usual length of a search, less what is done."""
        order, settings = self._order, self._settings
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
        return self._spent_us >= self._budget_us or len(self._tries) >= C.most_probes

    # Saturate

    def _after_saturation(self, outcome: ProbeOutcome) -> ProbeOrder | None:
        rate, growth = outcome.rate_per_s, outcome.growth
        if growth is not None:
            if outcome.verdict == "failed" and growth > C.saturated:
                self._failed = rate
            return self._narrow()
        kept_up, overwhelmed = self._saturating("passed"), self._saturating("failed", "doubtful")
        low, high = max(kept_up, default=None), min(overwhelmed, default=None)
        if self._spent or (low is not None and low >= self._settings.highest):
            return self._confirm()
        if low is not None and high is not None:
            far = high / low > C.adjacent
            return self._ordered("saturate", math.sqrt(low * high)) if far else self._narrow()
        if low is not None:
            return self._ordered("saturate", self._more(outcome))
        return self._ordered("saturate", rate / 4) if rate / 4 >= C.least_per_s else None

    def _saturating(self, *verdicts: ProbeVerdict) -> list[float]:
        """The rates of saturation probes with these verdicts that gave no estimate."""
        return [
            t.rate_per_s
            for t in self._tries
            if t.kind == "saturate" and t.growth is None and t.verdict in verdicts
        ]

    def _more(self, outcome: ProbeOutcome) -> float:
        """A higher rate for a system that kept up with this one.

        If a bound is known, just above it: far above its capacity a system processes less than it
        could, and the backlog must be drained.
        """
        rate, bound = outcome.rate_per_s, outcome.drained_per_s
        if bound is None:
            return 4 * rate
        # A large pull that shows a far higher rate spends much of its time on fixed costs still.
        return max(1.5 * bound if bound > 2 * rate else 1.15 * bound, 1.3 * rate)

    # Narrow

    def _after_narrowing(self, outcome: ProbeOutcome) -> ProbeOrder | None:
        rate, verdict = outcome.rate_per_s, self._settled(outcome)
        if verdict == "doubtful" and not self._spent:
            return self._ordered("narrow", rate)
        if verdict == "failed":
            self._failed, self._passes = rate, 0
        elif verdict == "passed":
            self._passed, self._passes = rate, self._passes + 1
        return self._narrow()

    def _settled(self, outcome: ProbeOutcome) -> ProbeVerdict:
        """A doubtful probe is decided by all probes together, or repeated."""
        rate, growth = outcome.rate_per_s, outcome.growth
        if outcome.verdict != "doubtful":
            return outcome.verdict
        if growth is None or self._capacity is None:
            tried = sum(t.rate_per_s == rate and t.kind == "narrow" for t in self._tries)
            return "failed" if tried >= self._settings.attempts else "doubtful"
        beyond = 1 - self._capacity.per_s / rate - C.tolerated * self._settings.precision
        return "failed" if growth > 0 and beyond > 0 else "passed"

    def _narrow(self) -> ProbeOrder | None:
        """The next rate between what passed and what failed, or a confirmation."""
        precision, estimate = self._settings.precision, self._estimate_per_s
        if self._spent or estimate is None or self._precise(self._passed):
            return self._confirm()
        if self._failed is not None and self._failed <= estimate * (1 + precision):
            return self._confirm()
        rate = estimate * (1 + C.above * precision)
        kept_up = max(self._saturating("passed"), default=0.0)
        if self._passed is not None:
            step = 0.95 * precision * 2 ** max(0, self._passes - 2)
            rate = max(rate, self._passed * (1 + step))
        elif kept_up < (self._failed or math.inf):
            # A flood makes a system slower than it is, so what it kept up with before counts too.
            rate = max(rate, kept_up)
        if self._failed is not None:
            rate = min(rate, self._failed / (1 + 0.25 * precision))
        order = self._ordered("narrow", rate)
        return order if order.rate_per_s > (self._passed or 0.0) else self._confirm()

    @property
    def _estimate_per_s(self) -> float | None:
        """The capacity, as far as it agrees with what passed and what failed."""
        pooled = self._capacity.per_s if self._capacity else None
        kept_up = max(self._saturating("passed"), default=None)
        known = pooled or self._passed or kept_up or self._failed
        if known is None:
            return None
        return min(max(known, self._passed or 0.0), self._failed or math.inf)

    def _precise(self, passed: float | None) -> bool:
        if passed is None or self._failed is None:
            return False
        return self._failed / passed <= 1 + self._settings.precision

    # Confirm

    def _after_confirmation(self, outcome: ProbeOutcome) -> ProbeOrder | None:
        rate = outcome.rate_per_s
        if outcome.verdict == "passed":
            self._confirmed = rate
            if not self._has_room(rate):
                return None
            self._passed, self._failed = rate, None
            self._reopened += 1
            return self._narrow()
        self._failed, self._passes = rate, 0
        self._misses += 1
        if self._spent or (self._passed is not None and self._passed >= rate):
            self._passed = self._confirmed
        return None if self._precise(self._confirmed) else self._narrow()

    def _has_room(self, rate: float) -> bool:
        """Whether the capacity is so far above that a higher rate must have failed by chance."""
        settings = self._settings
        if self._spent or self._capacity is None or self._reopened >= settings.attempts - 1:
            return False
        aim = self._capacity.per_s * (1 - C.below * settings.precision)
        return rate < settings.highest and aim > rate * (1 + C.above * settings.precision)

    def _confirm(self) -> ProbeOrder | None:
        precision, failed, passed = self._settings.precision, self._failed, self._passed or 0.0
        estimate = self._estimate_per_s
        kept_up = [r for r in self._saturating("passed") if r < (failed or math.inf)]
        if self._capacity is None and not passed and kept_up:
            return self._ordered("confirm", self._between(max(kept_up)))
        if estimate is None:
            return None
        rate = max(estimate * (1 - C.below * precision), passed)
        if failed is not None:
            if failed <= estimate * (1 + precision):
                rate = max(rate, min(failed / (1 + 0.98 * precision), estimate))
            below = failed / (1 + 0.25 * precision * 2 ** max(0, self._misses - 2))
            rate = min(rate, max(below, passed))
            if self._spent and self._misses:
                # There is no time for many: short probes overrate a system whose state grows.
                rate = min(rate, self._processed_at_length * (1 - C.below * precision))
        if rate < C.least_per_s:
            return None
        order = self._ordered("confirm", rate)
        return order if order.rate_per_s > (self._confirmed or 0.0) else None

    def _between(self, kept_up: float) -> float:
        """Without an estimate: the middle between a rate kept up with and one that failed."""
        if self._failed is None or self._failed < C.adjacent * kept_up:
            return kept_up
        processed = self._processed_at_length * (1 - C.below * self._settings.precision)
        return max(kept_up, min(processed, math.sqrt(kept_up * self._failed)))

    @property
    def _processed_at_length(self) -> float:
        """By the last confirmation that failed, if it was observed."""
        failed = [t for t in self._tries if t.kind == "confirm" and t.verdict != "passed"]
        return (failed[-1].drained_per_s if failed else None) or math.inf

    def _ordered(self, kind: ProbeKind, rate_per_s: float) -> ProbeOrder:
        settings = self._settings
        length_us = {
            "saturate": settings.saturate_us,
            "narrow": settings.probe_us,
            "confirm": settings.confirm_us,
        }
        # Five digits, because rates are read and stored.
        rate = min(float(f"{rate_per_s:.5g}"), settings.highest)
        return ProbeOrder(rate, length_us[kind], kind)


def estimated_us(settings: SearchSettings, overhead_per_probe_us: int = 0) -> int:
    """About how long a search will take."""
    return Search(settings).remaining_us(overhead_per_probe_us)
