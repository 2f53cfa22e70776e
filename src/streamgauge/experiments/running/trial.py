"""One load on one system: opens the channel, gives the system its assignment, runs the load over
its time line, drains, and records what happened."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from streamgauge.channels.base import ChannelContext, OpenChannel
from streamgauge.driver.instance import InstanceStatus
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.running.log import (
    ActionTaken,
    Decided,
    LoadStarted,
    Observed,
    Progress,
    RunLog,
    SystemReported,
)
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station, Tell
from streamgauge.experiments.running.stopping import (
    Action,
    Dropped,
    Judged,
    Seen,
    Stop,
    StopCondition,
    Unsustained,
    marks_of,
)
from streamgauge.measure.monitor import Monitor
from streamgauge.measure.record import RunRecord, SourceRecord
from streamgauge.measure.search import ProbeJudge
from streamgauge.measure.summary import MonitorCost
from streamgauge.processes.roles import Role
from streamgauge.systems.base import Assignment
from streamgauge.systems.running import Diagnostics, RunningSystem

TICK_S = 0.1
"""As often as the driver instances report: a system pulls a few times a second at most."""
LEAD_US = 700_000
"""Between the decision when the load begins and its beginning: every instance must know by then."""
CUT_LEAD_US = 1_000_000
"""A load that is cut ends this much later, so that all instances end at the same moment."""
LONGEST_DRAIN = 5
"""A system that still makes progress may take this many times the drain time-out."""
OBSERVED_EVERY_US = 1_000_000


class Trial:
    """The driver's side and the assignment of one load, from their start to their end."""

    def __init__(
        self, plan: Plan, directory: RunDirectory, station: Station, log: RunLog, tell: Tell
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._station = station
        self._clock = station.clock
        self._log = log
        self._tell = tell
        self._channel: OpenChannel | None = None
        self._running: RunningSystem | None = None
        self._monitor: Monitor | None = None
        self._number = station.next_number()
        self._observed_us = 0
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
        finally:
            if self._monitor is not None:
                self.monitor_cost = self._monitor.stop()
            if self._running is not None:
                self._station.stop_system()
            if self._channel is not None:
                self._channel.close()

    def start(self) -> None:
        """The driver's side first, then the system, which rehearses what it has not run before."""
        self._tell("starting the driver")
        timeout_s = self._plan.experiment.timeouts.start / 1e6
        channel = self._channel = self._plan.channel.open(self._channel_context(timeout_s))
        running = self._running = self._station.system(self._plan, self._tell)
        self._monitor = Monitor(self._roles(channel, running), self._directory.resources)
        self._monitor.start()
        assignment = Assignment(
            number=self._number,
            load=self._plan.load,
            query=self._plan.query_config,
            connector=self._plan.connector.path,
            offer=channel.offer,
            checkpoint=self._checkpoint,
        )
        running.begin(assignment, timeout_s, self._tell)

    def measured_load(self, judge: ProbeJudge | None = None) -> None:
        """The load of a measurement: cut when it is not sustained, judged when a search asks."""
        conditions: list[StopCondition] = [self.unsustained, self.dropped]
        if judge is not None:
            self.judged = Judged(judge, only_failure=True)
            conditions.append(self.judged)
        self.load(conditions, alignment_us=self._plan.query.alignment_us)

    def probe(self, judge: ProbeJudge, *, policies_count: bool) -> str | None:
        """Runs the load until the judge has decided or the load ends; why it broke, if it did.

        A probe that offers too much on purpose breaks only when a connection is dropped.
        """
        policies = [Unsustained(self._plan, self._directory.logs, at_once=True)]
        stop = self.load(
            [*(policies if policies_count else []), Dropped(at_once=True), Judged(judge)]
        )
        return stop.reasons[0] if stop and stop.reasons else None

    def load(
        self,
        conditions: Sequence[StopCondition] = (),
        timeline: Sequence[Action] = (),
        *,
        alignment_us: int = 1,
    ) -> Stop | None:
        """Runs the load to its end, or until a condition stops it; the stop, if there was one.

        The actions of the time line are done to the system when their time has come.
        """
        self._begin(alignment_us)
        actions = sorted(timeline, key=lambda action: action.at_us)
        stopped: Stop | None = None
        while self.now_us < self.end_us:
            self._clock.sleep(TICK_S)
            while actions and actions[0].at_us <= self.now_us:
                self._do(actions.pop(0))
            seen = self._look()
            self._tell("")
            found = [stop for one in conditions if (stop := one.look(seen)) is not None]
            if stopped is None and found:
                reasons = [reason for stop in found for reason in stop.reasons]
                stopped = Stop(reasons, found[0].at_once)
                if stopped.at_once:
                    return stopped
                self._cut(reasons)
        return stopped

    def drain(self) -> bool:
        """Waits until the system has processed everything; False when it has not, in the end."""
        assert self._running is not None
        self._running.drain()
        patience_s = self._plan.experiment.timeouts.drain / 1e6
        began = progressed = self._clock.monotonic_s()
        before = (-1, -1)
        while not self._running.drained:
            now = (self.drained, self.results)
            if now != before:
                before, progressed = now, self._clock.monotonic_s()
            if self._clock.monotonic_s() > min(
                progressed + patience_s, began + LONGEST_DRAIN * patience_s
            ):
                return False
            self._clock.sleep(TICK_S)
            self._look()
            self._tell("")
        return True

    def close(self, *, drained: bool) -> RunRecord:
        """Ends the run: what arrives from now on is late."""
        assert self._channel is not None
        closed_us = self._clock.now_us()
        self.let_go()
        statuses = self._channel.finish()
        self._log.publish(_observed(statuses, self.results))
        judged = zip(self.unsustained.marks, self.unsustained.reasons, strict=True)
        return RunRecord(
            load=self._plan.load,
            query=self._plan.query_config,
            warm_up_us=self._plan.experiment.warm_up_us,
            start_us=self.start_us,
            end_us=self.end_us,
            closed_us=closed_us,
            drained=drained,
            dropped=self.dropped.reasons,
            ended_early=self.judged.reason if self.judged else "",
            instances=[
                SourceRecord(
                    **status.model_dump(),
                    queue_limits=(marks.acceptable, marks.tolerable, marks.capacity),
                    unsustained_because=reason,
                )
                for status, (marks, reason) in zip(statuses, judged, strict=True)
            ],
        )

    def let_go(self) -> None:
        """Ends the work of the system on this trial, whatever is left to process."""
        assert self._running is not None
        self.diagnostics = self._running.end()
        self._running = None
        shutil.rmtree(self._checkpoint, ignore_errors=True)

    @property
    def running(self) -> RunningSystem:
        assert self._running is not None, "the system has no assignment"
        return self._running

    @property
    def now_us(self) -> int:
        """Microseconds since the load began."""
        return self._clock.now_us() - self.start_us

    @property
    def lag_p99_us(self) -> int:
        """How late the generators were; the latest of them counts."""
        statuses = self._channel.statuses if self._channel else []
        return max((status.lag_p99_us for status in statuses), default=0)

    @property
    def drained(self) -> int:
        return sum(status.drained for status in self._channel.statuses) if self._channel else 0

    @property
    def results(self) -> int:
        return self._channel.sink.results if self._channel else 0

    def progress(
        self, phase: str, note: str, elapsed_s: float = 0.0, remaining_s: float = 0.0
    ) -> Progress:
        """This moment, with the last report of the driver instances and the sink."""
        statuses = self._channel.statuses if self._channel else []
        if self._channel is None or not statuses:
            return Progress(phase, note, elapsed_s, remaining_s)
        seconds = max(0.1, statuses[0].time_us / 1e6)
        sink = self._channel.sink
        return Progress(
            phase=phase,
            note=note,
            elapsed_s=elapsed_s,
            remaining_s=remaining_s,
            offered_per_s=sum(status.offered for status in statuses) / seconds,
            drained_per_s=sum(status.drained for status in statuses) / seconds,
            queued=sum(status.queued for status in statuses),
            results=sink.results,
            latency_ms=sink.last_latency_ms,
        )

    def _begin(self, alignment_us: int) -> None:
        assert self._channel is not None
        earliest = self._clock.now_us() + LEAD_US
        self.start_us = -(-earliest // alignment_us) * alignment_us
        self._channel.start(self.start_us)
        self._log.publish(LoadStarted(self.start_us, self._plan.experiment.load.rate_per_s))

    def _look(self) -> Seen:
        """What the channel has seen and the system has reported since the last tick."""
        assert self._channel is not None
        assert self._running is not None
        faults = self._channel.poll()
        for message in self._running.poll():
            self._log.publish(SystemReported(message))
        self._log_observed(self._channel)
        new = [one for one in self._channel.observations() if one.time_us <= self.end_us]
        return Seen(new, self._channel.overall(), faults)

    def _log_observed(self, channel: OpenChannel) -> None:
        if self.now_us < self._observed_us + OBSERVED_EVERY_US or not (found := channel.statuses):
            return
        self._observed_us = self.now_us
        self._log.publish(_observed(found, self.results))

    def _do(self, action: Action) -> None:
        assert self._running is not None
        action.do(self._running)
        self._log.publish(ActionTaken(action.name, self.now_us))

    def _cut(self, reasons: Sequence[str]) -> None:
        assert self._channel is not None
        self.end_us = min(self.end_us, self.now_us + CUT_LEAD_US)
        self._channel.cut(self.end_us)
        self._log.publish(Decided("cut", reasons, {"end_us": self.end_us}))

    @property
    def _checkpoint(self) -> Path:
        return self._station.scratch / f"checkpoint-{self._number}"

    def _channel_context(self, timeout_s: float) -> ChannelContext:
        return ChannelContext(
            load=self._plan.built_load,
            most_queued=[marks.capacity for marks in marks_of(self._plan)],
            folder=self._directory.driver,
            results=self._directory.results,
            start=self._station.starter(self._directory.logs),
            timeout_s=timeout_s,
        )

    def _roles(self, channel: OpenChannel, running: RunningSystem) -> dict[str, Role]:
        def pids() -> list[int]:
            return [process.pid for process in running.processes]

        roles = channel.roles()
        of_channel = roles.get("system")
        roles["system"] = Role(pids, of_channel.network_bytes if of_channel else None)
        for process in list(running.processes)[1:]:
            roles[process.name] = Role(lambda pid=process.pid: [pid], None)  # type: ignore[misc]
        return roles


def _observed(statuses: Sequence[InstanceStatus], results: int) -> Observed:
    return Observed(
        load_us=max(status.time_us for status in statuses),
        offered=sum(status.offered for status in statuses),
        taken=sum(status.drained for status in statuses),
        queued=sum(status.queued for status in statuses),
        results=results,
    )
