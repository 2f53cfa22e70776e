"""One load on one system: opens the channel, gives the system its assignment, runs the load with
its time line of actions, drains, and records what happened."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from streamgauge.channels.base import ChannelContext, OpenChannel
from streamgauge.disturb.section import PlannedFault
from streamgauge.driver.instance import InstanceStatus
from streamgauge.errors import ComponentError
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.running import log
from streamgauge.experiments.running.disturbing import Disturber, TrialScene
from streamgauge.experiments.running.roles import roles_of
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station, Tell
from streamgauge.experiments.running.stopping import (
    Action,
    Dropped,
    Judged,
    Seen,
    StopCondition,
    Unsustained,
    UntilFault,
)
from streamgauge.experiments.running.supervising import Supervisor
from streamgauge.measure.monitor import Monitor
from streamgauge.measure.record import FaultRecord, RunRecord, SourceRecord
from streamgauge.measure.search import ProbeJudge
from streamgauge.measure.summary import MonitorCost
from streamgauge.parts import PartWriter
from streamgauge.processes.small_disks import small_disk
from streamgauge.processes.targets import Nature
from streamgauge.queries.next_results import NextResults
from streamgauge.systems.base import Assignment
from streamgauge.systems.running import Diagnostics, RunningSystem

TICK_S = 0.1
"""As often as the driver instances report: a system pulls a few times a second at most."""
LEAD_US = 700_000
"""From the decision when the load begins to its beginning, so that every instance gets it first."""
CUT_LEAD_US = 1_000_000
"""A load that is cut ends this much later, so that all instances end at the same moment."""
LONGEST_DRAIN = 5
"""A system that still makes progress may take this many times the drain time-out."""
BACKLOG_PATIENCE = 4
"""With a backlog, a system that cannot say when it is done may be quiet this many times longer."""
OBSERVED_EVERY_US = 1_000_000


class Trial:
    """The driver's side and the assignment of one load, from their start to their end."""

    def __init__(
        self, plan: Plan, directory: RunDirectory, station: Station, run_log: log.RunLog, tell: Tell
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._station = station
        self._clock = station.clock
        self._log = run_log
        self._tell = tell
        self._query = plan.query_config
        self._opened: OpenChannel | None = None
        self._assigned: RunningSystem | None = None
        self._monitor: Monitor | None = None
        self._supervised: Supervisor | None = None
        self._disturber: Disturber | None = None
        self._faults: list[FaultRecord] = []
        self._number = station.next_number()
        self._mirror = f"streamgauge-{secrets.token_hex(4)}"
        self._checkpoint = station.scratch / f"checkpoint-{self._number}"
        self._small_disk = ExitStack()
        self._observed_us = 0
        self._clock_offset_us = 0
        self._clock_jump_us = 0
        self.unsustained = Unsustained(plan, directory.logs)
        self.dropped = Dropped()
        self.judged: Judged | None = None
        self.start_us = 0
        self.end_us = plan.experiment.duration
        self.monitor_cost = MonitorCost()
        self.diagnostics: Diagnostics = []

    @contextmanager
    def processes(self) -> Iterator[None]:
        """Everything that was started inside is stopped at the end.

        The system stays for the next trial, unless it still works on this one.
        """
        try:
            yield
        except ComponentError:
            # Whoever uses a service that has died may notice it first.
            self._station.check_services()
            raise
        finally:
            if self._disturber is not None:
                self._disturber.stop()
            if self._supervised is not None:
                self._supervised.stop()
            if self._monitor is not None:
                self.monitor_cost = self._monitor.stop()
            if self._assigned is not None:
                self._station.stop_system()
            if self._opened is not None:
                self._opened.close()
            self._small_disk.close()

    def start(self) -> None:
        """The driver's side first, then the system, which rehearses a query that is new to it."""
        plan, directory = self._plan, self._directory
        self._query = self._station.query_of(plan, self._tell)
        self._tell("starting the driver")
        timeout_s = plan.experiment.timeouts.start / 1e6
        context = ChannelContext(
            load=plan.built_load,
            shape=plan.query.shape,
            next_result=NextResults(plan.query, plan.built_load).after,
            most_queued=self._most_queued(),
            folder=directory.driver,
            results=directory.results,
            rows=self._query if plan.stores_rows else None,
            log=directory.log,
            start=partial(self._station.start_module, directory.logs),
            service=partial(self._station.service, tell=self._tell),
            check_services=self._station.check_services,
            timeout_s=timeout_s,
            disturbed=bool(plan.faults),
            results_are_the_log=plan.query.results_are_the_log,
        )
        channel = self._opened = plan.channel.open(context)
        running = self._assigned = self._station.system(plan, self._tell)
        self._supervised = Supervisor(running, plan.system.restart, timeout_s, self._clock)
        roles = roles_of(channel, running, self._station.service_processes())
        self._monitor = Monitor(roles, directory.resources)
        self._monitor.start()
        self._small_disk.enter_context(small_disk(self._checkpoint, wanted=self._fills_the_disk))
        assignment = Assignment(
            number=self._number,
            load=plan.load,
            query=self._query,
            connector=plan.connector.path,
            offer=channel.offer,
            checkpoint=self._checkpoint,
            mirror=self._mirror,
        )
        if plan.query.mirrored_in:
            self._tell(f"results go to {plan.query.mirrored_in}, too, as {self._mirror}")
        running.begin(assignment, timeout_s, self._tell)

    def measured_load(self, judge: ProbeJudge | None = None) -> None:
        """The load of a measurement, cut when it is not sustained; a search adds its judge."""
        conditions: list[StopCondition] = [
            UntilFault(self.unsustained, self._disturbed),
            UntilFault(self.dropped, self._disturbed),
        ]
        if judge is not None:
            self.judged = Judged(judge, only_failure=True)
            conditions.append(self.judged)
        self.load(conditions, alignment_us=self._plan.query.alignment_us, faults=self._plan.faults)

    def probe(self, judge: ProbeJudge, *, policies_count: bool) -> str | None:
        """Runs the load until the judge has decided or the load ends; why it broke, if it did.

        A probe that offers too much on purpose breaks only when a connection is dropped.
        """
        policies = [self.unsustained] if policies_count else []
        reasons = self.load([*policies, self.dropped, Judged(judge)], at_once=True)
        return reasons[0] if reasons else None

    def load(
        self,
        conditions: Sequence[StopCondition] = (),
        timeline: Sequence[Action] = (),
        *,
        alignment_us: int = 1,
        at_once: bool = False,
        faults: Sequence[PlannedFault] = (),
    ) -> list[str]:
        """Runs the load to its end, or until a condition stops it; the reasons of the stop.

        The stop is at once, or cuts the load so that all driver instances end at the same moment.
        The actions of the time line are done to the system at their times; faults have threads of
        their own, so that none of them holds up the loop.
        """
        self._begin(alignment_us)
        if faults:
            scene = TrialScene(self.running, self._station, self._channel, self._checkpoint)
            self._disturber = Disturber(faults, scene, self._clock, self.start_us)
        self._supervisor.watch(self.start_us, self._disturbed)
        actions = sorted(timeline, key=lambda action: action.at_us)
        reasons: list[str] = []
        stopped = False
        while self.now_us < self.end_us:
            self._clock.sleep(TICK_S)
            while actions and actions[0].at_us <= self.now_us:
                action = actions.pop(0)
                action.do(self.running)
                self._log.publish(log.ActionTaken(action.name, self.now_us))
            seen = self._poll()
            found = [stop for one in conditions if (stop := one.check(seen)) is not None]
            if found and not stopped:
                stopped, reasons = True, [reason for stop in found for reason in stop]
                if at_once:
                    break
                self.end_us = min(self.end_us, self.now_us + CUT_LEAD_US)
                self._channel.cut(self.end_us)
                self._log.publish(log.Decided("cut", reasons, {"end_us": self.end_us}))
        if self._disturber is not None:
            self._faults = self._disturber.stop()
        return reasons

    def drain(self) -> bool:
        """Waits until the system has processed everything; False if it does not in time."""
        self._channel.flush()
        self._supervisor.drain()
        patience_s = self._plan.experiment.timeouts.drain / 1e6
        began = progressed = self._clock.monotonic_s()
        before = (-1, -1)
        while not (drained := self._supervisor.drained):
            if self._supervisor.gave_up:
                return False
            seen, now = self._observed(self._channel.statuses), self._clock.monotonic_s()
            if (seen.taken, seen.results) != before:
                before, progressed = (seen.taken, seen.results), now
            # With a backlog it may only be slow, or starting again.
            quiet_s = self.running.quiet_s * (BACKLOG_PATIENCE if seen.queued else 1)
            if drained is None and now > progressed + quiet_s:
                break
            if now > min(progressed + patience_s, began + LONGEST_DRAIN * patience_s):
                return False
            self._clock.sleep(TICK_S)
            self._poll()
        self._channel.settle()
        return True

    def close(self, *, drained: bool) -> RunRecord:
        """Ends the run: results that arrive from now on are late."""
        closed_us = self._clock.now_us()
        self.end_assignment()
        self._keep_mirror()
        statuses = self._channel.finish()
        self._log.publish(self._observed(statuses))
        late_drops = [drop for status in statuses for drop in status.dropped]
        if self._disturbed():
            # Whoever was killed had connections, too.
            late_drops = []
        judged = zip(self.unsustained.marks, self.unsustained.reasons.values(), strict=True)
        return RunRecord(
            load=self._plan.load,
            query=self._query,
            warm_up_us=self._plan.experiment.warm_up_us,
            start_us=self.start_us,
            end_us=self.end_us,
            closed_us=closed_us,
            drained=drained,
            encoding="columns" if self._plan.stores_rows else self._plan.channel.encoding,
            results_are_the_log=self._plan.query.results_are_the_log,
            mirrored_in=self._plan.query.mirrored_in,
            clock_jump_us=self._clock_jump_us,
            dropped=list(dict.fromkeys([*self.dropped.reasons, *late_drops])),
            ended_early=self.judged.reason if self.judged else "",
            faults=self._faults,
            deaths=self._supervisor.deaths,
            updates=self._plan.query.sends_updates,
            claimed=self._plan.connector.claims(self._plan.channel),
            instances=[
                SourceRecord(
                    **status.model_dump(),
                    queue_limits=(marks.acceptable, marks.tolerable, marks.capacity),
                    unsustained_because=reason,
                )
                for status, (marks, reason) in zip(statuses, judged, strict=True)
            ],
        )

    def abandon(self) -> None:
        """Ends a trial whose results do not matter; a system that runs on must not take what is
        left for a part of the next one."""
        if self.running.runs_on:
            self._channel.cut(max(0, self.now_us))
            self.drain()
        self.end_assignment()

    def end_assignment(self) -> None:
        """Ends the work of the system on this trial, whatever is left to process."""
        self.diagnostics = self._supervisor.end()
        self._assigned = None
        self._small_disk.close()
        shutil.rmtree(self._checkpoint, ignore_errors=True)

    def _keep_mirror(self) -> None:
        """What the mirror of the results holds, so that it can be compared, now or again."""
        if self._plan.query.mirrored_in:
            writer = PartWriter(self._directory.mirror)
            for batch in self._plan.query.mirror(self._mirror).rows():
                writer.append(batch)
            writer.flush()

    @property
    def running(self) -> RunningSystem:
        assert self._assigned is not None, "the system has no assignment"
        return self._assigned

    @property
    def _supervisor(self) -> Supervisor:
        assert self._supervised is not None, "the system has no assignment"
        return self._supervised

    def _disturbed(self) -> bool:
        """Has a fault happened?"""
        return self._disturber is not None and self._disturber.begun

    @property
    def _fills_the_disk(self) -> bool:
        return any(Nature.DISK in one.fault.natures for one in self._plan.faults)

    def _most_queued(self) -> list[int]:
        """By driver instance; an outage of any length must fit, or the load would be another."""
        if self._plan.faults:
            return [feed.times.total for feed in self._plan.built_load.feeds]
        return [marks.capacity for marks in self.unsustained.marks]

    @property
    def now_us(self) -> int:
        """Microseconds since the load began."""
        return self._clock.now_us() - self.start_us

    @property
    def lag_p99_us(self) -> int:
        """How late the generators were; the latest of them counts."""
        return max((status.lag_p99_us for status in self._channel.statuses), default=0)

    def with_figures(self, progress: log.Progress) -> log.Progress:
        """Adds the last report of the driver instances and the sink."""
        if self._opened is None or not (statuses := self._opened.statuses):
            return progress
        seen = self._observed(statuses)
        seconds = max(0.1, seen.load_us / 1e6)
        return replace(
            progress,
            offered_per_s=seen.offered / seconds,
            drained_per_s=seen.taken / seconds,
            queued=seen.queued,
            results=seen.results,
            latency_ms=self._opened.sink.last_latency_ms,
        )

    @property
    def _channel(self) -> OpenChannel:
        assert self._opened is not None, "the channel is not open"
        return self._opened

    def _begin(self, alignment_us: int) -> None:
        earliest = self._clock.now_us() + LEAD_US
        self.start_us = -(-earliest // alignment_us) * alignment_us
        self._channel.start(self.start_us)
        self._clock_offset_us = self._offset_us()
        self._log.publish(log.LoadStarted(self.start_us, self._plan.experiment.load.rate_per_s))

    def _offset_us(self) -> int:
        """Between the wall clock and one that goes on evenly."""
        return self._clock.now_us() - round(self._clock.monotonic_s() * 1e6)

    def _poll(self) -> Seen:
        """Logs and returns what is new since the last tick."""
        jump_us = abs(self._offset_us() - self._clock_offset_us)
        self._clock_jump_us = max(self._clock_jump_us, jump_us)
        self._station.check_guard()
        self._station.check_services()
        faults = self._channel.poll()
        for message in self._supervisor.poll():
            self._log.publish(log.SystemReported(message))
        self._log_faults()
        if self.now_us >= self._observed_us + OBSERVED_EVERY_US and self._channel.statuses:
            self._observed_us = self.now_us
            self._log.publish(self._observed(self._channel.statuses))
        new = [one for one in self._channel.observations() if one.time_us <= self.end_us]
        seen = Seen(new, self._channel.overall(), faults)
        self._tell("")
        return seen

    def _log_faults(self) -> None:
        for fault in self._disturber.news() if self._disturber is not None else ():
            same = fault.model_dump(include={"victim", "asked_us", "began_us", "done_us", "failed"})
            self._log.publish(log.FaultDone(fault.title, **same))
        for death in self._supervisor.news():
            self._log.publish(log.ProgramDied(death.noticed_us, death.ready_us))

    def _observed(self, statuses: Sequence[InstanceStatus]) -> log.Observed:
        return log.Observed(
            load_us=max((status.time_us for status in statuses), default=0),
            offered=sum(status.offered for status in statuses),
            taken=sum(status.drained for status in statuses),
            queued=sum(status.queued for status in statuses),
            results=self._channel.sink.results,
        )
