"""The runtime: starts the segments, watches them, decides and switches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamgauge.dual.decider import Decider
from streamgauge.dual.decision import Action, OperationDecision, Standing
from streamgauge.dual.model.interval import commit_interval_s
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.monitoring import Batch, Counts, SegmentMonitor
from streamgauge.dual.reports import Decided, Failed, Place, Placed, Report, Seen, SegmentSeen
from streamgauge.dual.settings import DualSettings
from streamgauge.dual.spark.folder import Folder
from streamgauge.dual.spark.positions import position, settled_tails
from streamgauge.dual.spark.runs import Run, Trigger
from streamgauge.dual.spark.segment import Segment
from streamgauge.dual.spark.switching import Switch
from streamgauge.dual.topics import Tail, Topics
from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SEEN_EVERY_S = 1.0
TRIM_EVERY_S = 20.0
COMMIT_S = 300.0
"""Of a data stream without state, whose output says how far it is."""
MOST_RESTARTS = 5
"""Of one segment within a minute."""


@dataclass
class Active:
    """A segment with its present run."""

    segment: Segment
    monitor: SegmentMonitor
    run: Run | None = None
    since_s: float = 0.0
    prepared: DataFrame | None = None
    preparing_s: float | None = None
    decision: OperationDecision | None = None
    switch: Switch | None = None
    """The last one, until its first result has come."""
    batches: int = -1
    """The last micro-batch that was counted."""
    restarts: list[float] = field(default_factory=list)

    @property
    def paradigm(self) -> Paradigm:
        assert self.run is not None
        return self.run.paradigm

    @property
    def interval_ms(self) -> float | None:
        """Of the micro-batches, as operation stream."""
        if self.run is None or self.paradigm is Paradigm.DATA:
            return None
        return self.run.trigger.seconds * 1_000


class Runtime:
    """A pipeline at work. `step` is to be called a few times a second."""

    def __init__(
        self,
        segments: Sequence[Segment],
        topics: Topics,
        folder: Folder,
        begins: Sequence[dict[int, int]],
        settings: DualSettings,
        report: Callable[[Report], None],
        cut_because: str = "",
    ) -> None:
        self._topics = topics
        self._folder = folder
        self._begins = begins
        self._settings = settings
        self._report = report
        self._cut_because = cut_because
        self._decider = Decider(tuple(one.name for one in segments), settings)
        self.active = [Active(one, SegmentMonitor(one.partitions)) for one in segments]
        self._seen_s = self._trimmed_s = time.monotonic()

    def start(self, paradigm: Paradigm = Paradigm.DATA) -> None:
        """All operations start as data stream, or where the pipeline was left."""
        # The last one first: no segment waits for the next one to take its results.
        for place in reversed(range(len(self.active))):
            self._start(place, paradigm, self._settings.shortest_interval_s)
        for one in self.active:
            assert one.run is not None
            one.run.wait_until_takes_input()
            # It has not chosen this paradigm: if it is the wrong one, it need not stay. The first
            # burst finds the other query planned; planning takes a second, and more on a busy core.
            one.since_s -= self._settings.minimum_stay_s
            if not self._settings.fixed:
                self._prepare(one)
        places, because = self._places(), self._cut_because
        self._report(Placed(at_us=_now_us(), segments=places, cut_because=because))

    def step(self) -> None:
        """Looks at every segment, decides, and does what was decided."""
        for place, one in enumerate(self.active):
            self._revive(place, one)
            self._look(one)
            self._finish_switch(one)
        now_s = time.monotonic()
        if not self._settings.fixed:
            self._decide(now_s)
        self._tell_seen(now_s)
        if now_s > self._trimmed_s + TRIM_EVERY_S:
            self._trimmed_s = now_s
            self._trim()

    def _decide(self, now_s: float) -> None:
        decision = self._decider.decide(now_s, [_standing(one) for one in self.active])
        for place, (one, decided) in enumerate(zip(self.active, decision.operations, strict=True)):
            self._tell(one, decided)
            if decided.action is Action.PREPARE:
                self._prepare(one)
            elif decided.action is Action.SWITCH:
                self.switch(place, decided.target, decided.interval_s)

    def switch(self, place: int, target: Paradigm, interval_s: float | None = None) -> None:
        """Stops the run of a segment and goes on in the other paradigm; the others go on."""
        one = self.active[place]
        if one.run is None or one.paradigm is target:
            return
        self._finish_switch(one, now=True)
        if one.prepared is None:
            self._prepare(one)
        asked_us, asked_s = _now_us(), time.monotonic()
        one.run.stop()
        stopped_s = time.monotonic()
        tails = settled_tails(self._topics, one.segment.sink, self._out(one))
        settled_s = time.monotonic()
        shortest_s, longest_s = (
            self._settings.shortest_interval_s,
            self._settings.longest_interval_s,
        )
        interval_s = min(max(interval_s or 0.0, shortest_s), longest_s)
        self._start(place, target, interval_s, tails, one.run.committed())
        one.switch = Switch(
            operations=one.segment.names,
            paradigm=target,
            asked_us=asked_us,
            asked_s=asked_s,
            last_output_us=max((t.time_us for t in tails.values() if t.time_us), default=None),
            froms={number: tail.end for number, tail in tails.items()},
            stop_s=stopped_s - asked_s,
            settle_s=settled_s - stopped_s,
            start_s=time.monotonic() - settled_s,
            interval_s=interval_s if target is Paradigm.OPERATION else None,
            preparation_s=one.preparing_s or 0.0,
        )

    def stop(self) -> None:
        """Ends all runs; what is not processed stays in the topics."""
        for one in self.active:
            if one.run is not None:
                one.run.stop()

    @property
    def queued(self) -> int:
        """Records that wait anywhere."""
        return sum(one.monitor.last.queue for one in self.active if one.monitor.last is not None)

    def _start(
        self,
        place: int,
        paradigm: Paradigm,
        interval_s: float,
        tails: dict[int, Tail] | None = None,
        committed: dict[int, int] | None = None,
    ) -> None:
        one, segment = self.active[place], self.active[place].segment
        seconds = interval_s if paradigm is Paradigm.OPERATION else self._commit_s(one)
        one.run = Run(
            segment,
            Trigger(paradigm, seconds),
            self._folder.checkpoint(place, stateful=segment.stateful),
            one.prepared or self._messages(place, tails, committed or {}),
        )
        one.prepared, one.batches, one.since_s = None, -1, time.monotonic()
        one.monitor.restarted()

    def _messages(
        self, place: int, tails: dict[int, Tail] | None, committed: dict[int, int]
    ) -> DataFrame:
        one, segment, begin = self.active[place], self.active[place].segment, self._begins[place]
        if segment.stateful:
            # Its checkpoint says where it goes on, if there is one.
            return segment.messages(begin)
        tails = tails or settled_tails(self._topics, segment.sink, self._out(one))
        # Messages that were there before the pipeline began are not ours.
        ours = {
            number: tail
            for number, tail in tails.items()
            if tail.end > self._begins[place + 1].get(number, 0)
        }
        return segment.messages(position(self._topics, segment, ours, begin, committed))

    def _commit_s(self, one: Active) -> float:
        if not one.segment.stateful:
            return COMMIT_S
        known = one.monitor.estimates
        chosen_s = commit_interval_s(known.arrival.value, known.operation_speed.value)
        return self._settings.commit_s or chosen_s

    def _out(self, one: Active) -> int:
        """Partitions of its sink."""
        place = self.active.index(one)
        return len(self._begins[place + 1])

    def _prepare(self, one: Active) -> None:
        """Plans the next query while the old one goes on. Without state, its plan depends on where
        the old one ends."""
        if one.prepared is None and one.preparing_s is None:
            began_s = time.monotonic()
            if one.segment.stateful:
                place = self.active.index(one)
                one.prepared = self._messages(place, None, {})
            one.preparing_s = time.monotonic() - began_s

    def _look(self, one: Active) -> None:
        segment, monitor = one.segment, one.monitor
        arrived = sum(self._topics.ends(segment.source, segment.partitions).values())
        tails = self._topics.tails(segment.sink, self._out(one))
        emitted = sum(tail.end for tail in tails.values())
        told = {number: tail for number, tail in tails.items() if tail.source is not None}
        delay_s = None
        if segment.stateful:
            latest = max((tail.source for tail in told.values() if tail.source), default=0)
            processed = self._topics.count_until(segment.source, segment.partitions, latest)
            newest = max((tail.time_us or 0 for tail in told.values()), default=0)
            delay_s = max(0.0, (newest - latest) / 1e6) if told else None
        else:
            place = self.active.index(one)
            begin = self._begins[place]
            done = {n: tail.source + 1 for n, tail in told.items() if tail.source is not None}
            processed = sum(max(done.get(n, 0), first) for n, first in begin.items())
        finished = self._finished(one)
        monitor.seen(
            Counts(time.monotonic(), arrived, processed, emitted, delay_s), one.paradigm, finished
        )

    def _finished(self, one: Active) -> list[Batch]:
        """Micro-batches since the last look."""
        assert one.run is not None
        if one.paradigm is Paradigm.DATA:
            return []
        found = []
        for progress in one.run.query.recentProgress:
            if progress.batchId > one.batches and progress.numInputRows:
                one.batches = progress.batchId
                seconds = progress.durationMs.get("triggerExecution", 0) / 1_000
                found.append(Batch(progress.numInputRows, seconds))
        return found

    def _finish_switch(self, one: Active, *, now: bool = False) -> None:
        """Reports a switch when its first result is there."""
        if one.switch is None:
            return
        first_us = self._topics.first_time_us(one.segment.sink, one.switch.froms)
        if first_us is None and not now and not one.switch.overdue:
            return
        report = one.switch.report(first_us)
        if report.gap_ms is not None:
            one.monitor.estimates = one.monitor.estimates.switched(
                one.switch.preparation_s, report.gap_ms / 1_000
            )
        one.switch = one.preparing_s = None
        self._report(report)

    def _revive(self, place: int, one: Active) -> None:
        """A run that has failed starts again where its results end."""
        assert one.run is not None
        if one.run.active:
            return
        now_s = time.monotonic()
        failure = (one.run.failure or "it was stopped").split("\n")[0]
        self._report(Failed(at_us=_now_us(), operations=one.segment.names, failure=failure))
        one.restarts = [at for at in one.restarts if at > now_s - 60] + [now_s]
        if len(one.restarts) > MOST_RESTARTS:
            raise StreamgaugeError(
                f"the operations {one.segment.name} have failed {len(one.restarts)} times within a "
                f"minute: {failure}",
                fix="see Spark's log",
            )
        interval_s = self._settings.shortest_interval_s
        self._start(place, one.paradigm, interval_s, None, one.run.committed())

    def _trim(self) -> None:
        """Frees the records between segments that are done for good."""
        for place, one in enumerate(self.active[1:], 1):
            assert one.run is not None
            done = one.run.committed()
            if not one.segment.stateful:
                tails = self._topics.tails(one.segment.sink, self._out(one))
                told = {n: t.source for n, t in tails.items() if t.source is not None}
                begins = self._begins[place]
                # The last record stays: its results may have to be completed.
                done = {
                    n: max(told.get(n, 0), done.get(n, 0), first) for n, first in begins.items()
                }
            self._topics.delete_before(one.segment.source, done)

    def _tell(self, one: Active, decided: OperationDecision) -> None:
        """Reports a decision that differs from the one before."""
        before, one.decision = one.decision, decided
        if before is not None and (before.action, before.paradigm) == (
            decided.action,
            decided.paradigm,
        ):
            return
        self._report(
            Decided(
                at_us=_now_us(),
                operations=one.segment.names,
                action=decided.action.value,
                paradigm=decided.paradigm,
                target=decided.target,
                reason=decided.reason,
                figures=_numbers(decided),
            )
        )

    def _tell_seen(self, now_s: float) -> None:
        if now_s < self._seen_s + SEEN_EVERY_S:
            return
        self._seen_s = now_s
        self._report(Seen(at_us=_now_us(), segments=tuple(map(_seen, self.active))))

    def _places(self) -> tuple[Place, ...]:
        return tuple(
            Place(
                operations=one.segment.names, paradigm=one.paradigm, stateful=one.segment.stateful
            )
            for one in self.active
        )


def _standing(one: Active) -> Standing:
    return Standing(
        operation=one.segment.name,
        paradigm=one.paradigm,
        since_s=one.since_s,
        queue=one.monitor.queue,
        estimates=one.monitor.estimates,
        prepared=one.preparing_s is not None,
        switching=one.switch is not None,
    )


def _seen(one: Active) -> SegmentSeen:
    estimates = one.monitor.estimates
    limits = one.decision.figures.limits if one.decision and one.decision.figures else None
    last, schedule_s = one.monitor.last, estimates.schedule.value
    return SegmentSeen(
        operations=one.segment.names,
        paradigm=one.paradigm,
        queue=round(one.monitor.queue) if last else 0,
        arrival_per_s=estimates.arrival.value,
        magnification=estimates.magnification.value,
        data_speed_per_s=estimates.data_speed.value,
        operation_speed_per_s=estimates.operation_speed.value,
        upper_limit=limits.up if limits else None,
        lower_limit=limits.down if limits else None,
        processed_per_s=one.monitor.processed_per_s,
        interval_ms=one.interval_ms,
        schedule_ms=None if schedule_s is None else schedule_s * 1_000,
    )


def _numbers(decided: OperationDecision) -> dict[str, float | None]:
    if decided.figures is None:
        return {}
    figures, q = decided.figures, decided.figures.quantities
    return {
        "queue": figures.queue,
        "upper_limit": figures.limits.up,
        "lower_limit": figures.limits.down,
        "arrival_per_s": q.arrival_per_s,
        "data_speed_per_s": q.data_speed_per_s,
        "operation_speed_per_s": q.operation_speed_per_s,
        "interval_s": q.interval_s,
        "schedule_s": q.schedule_s,
        "saved_record_s": figures.saved_record_s,
        "slope_per_s2": figures.slope_per_s2,
    }


def _now_us() -> int:
    return time.time_ns() // 1_000
