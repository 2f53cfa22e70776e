"""One trial: starts driver and sink, gives the system its work, runs the load, drains, and says
what happened."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from streamgauge.channels.direct.processes import InstanceProcessConfig, SinkProcessConfig
from streamgauge.channels.direct.security import Endpoint
from streamgauge.driver.config import InstanceConfig
from streamgauge.driver.instance import InstanceStatus
from streamgauge.driver.sink import SinkStatus
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.running.progress import Progress
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station
from streamgauge.measure.monitor import Monitor, Role
from streamgauge.measure.record import RunRecord
from streamgauge.measure.search import Look, ProbeJudge
from streamgauge.measure.summary import MonitorCost
from streamgauge.processes.component import LARGE_ARRAYS, Component, Message, module_argv
from streamgauge.systems.base import Assignment

TICK_S = 0.1
"""As often as the driver instances say something: a system pulls a few times a second at most."""
LEAD_US = 700_000
"""Between deciding when the load begins and its beginning: every instance must know by then."""
CUT_LEAD_US = 1_000_000
"""A load that is cut ends this much later, so that all instances end at the same moment."""
END_TIMEOUT_S = 60.0
"""A system that does not let go of its input within this time is ended."""
LONGEST_DRAIN = 5
"""A system that still makes progress may take this many times the drain time-out."""

Tell = Callable[[str], None]


class Trial:
    """Driver instances and sink of one load, from their start to their end."""

    def __init__(self, plan: Plan, directory: RunDirectory, station: Station, tell: Tell) -> None:
        self._plan = plan
        self._schedule = plan.load.schedule.build()
        self._directory = directory
        self._station = station
        self._tell = tell
        self._instances: list[Component] = []
        self._sink: Component | None = None
        self._system: Component | None = None
        self._monitor: Monitor | None = None
        self._dropped: list[str] = []
        self._hopeless = ""
        self._looked_us = 0
        self.start_us = 0
        self.end_us = plan.experiment.duration
        self.monitor_cost = MonitorCost()
        self.own_words: list[dict[str, int]] = []
        """What the system says of itself, for the advice on tuning."""

    @contextmanager
    def processes(self) -> Iterator[None]:
        """Everything that was started inside is stopped at the end.

        The system stays for the next trial, unless it still holds on to this one.
        """
        try:
            yield
        finally:
            if self._monitor is not None:
                self.monitor_cost = self._monitor.stop()
            if self._system is not None:
                self._station.stop_system()
            for component in (*self._instances, self._sink):
                if component is not None:
                    component.stop()

    def start(self) -> None:
        """Driver and sink first, then the system, which rehearses what it has not run before."""
        self._tell("starting the driver")
        self._sink = self._launch_sink()
        self._instances = [self._launch_instance(i) for i in range(self._plan.load.instances)]
        timeout_s = self._plan.experiment.timeouts.start / 1e6
        queues = {
            number: _endpoint(instance.wait_for("ready", timeout_s))
            for number, instance in enumerate(self._instances)
        }
        sink = _endpoint(self._sink.wait_for("ready", timeout_s))
        system = self._system = self._station.system(self._plan, self._tell)
        assignment = Assignment(
            number=self._station.next_number(),
            load=self._plan.load,
            query=self._plan.query_config,
            queues=queues,
            sink=sink,
        )
        system.latest.pop("drained", None)
        system.send("begin", assignment=assignment.model_dump(mode="json"))
        self._monitor = Monitor(self._roles(), self._directory.resources)
        self._monitor.start()
        system.wait_for("ready", timeout_s, meanwhile=self._tell_system_phase)

    def load(self, judge: ProbeJudge | None = None) -> None:
        """Runs the load to its end, or cuts it when it is not sustained."""
        self._begin(self._plan.query.alignment_us)
        cut = False
        while self.now_us < self.end_us:
            time.sleep(TICK_S)
            reasons = self._look()
            if judge is not None and not cut and self._judged(judge) == "failed":
                self._hopeless = "the system works off less than is offered"
                reasons.append(self._hopeless)
            if reasons and not cut:
                cut = True
                self._cut(reasons)
            self._tell("")

    def warm_up(self) -> None:
        """Runs the load to its end, whatever the system makes of it."""
        self._begin(alignment_us=1)
        while self.now_us < self.end_us:
            time.sleep(TICK_S)
            self._look()
            self._tell("")

    def probe(self, judge: ProbeJudge, *, policies_count: bool) -> str | None:
        """Runs the load until the judge has seen enough or it ends; why it broke, if it did.

        A probe that offers too much on purpose only breaks when a connection is dropped.
        """
        self._begin(alignment_us=1)
        while self.now_us < self.end_us:
            time.sleep(TICK_S)
            reasons = self._look()
            self._tell("")
            if reasons and (policies_count or self._dropped):
                return reasons[0]
            if self._judged(judge) is not None:
                break
        return None

    def _judged(self, judge: ProbeJudge) -> str | None:
        """Looks when every driver instance has said something new.

        A system pulls up to one time of the schedule from all of a stream, from one after the other
        where it has fewer cores than they are; the first of them tells of the pull. The streams of
        a join are pulled from in one batch, so one of them tells enough.
        """
        statuses = self.statuses
        oldest_us = min((status.time_us for status in statuses), default=0)
        if len(statuses) < len(self._instances) or oldest_us <= self._looked_us:
            return None
        self._looked_us = max(status.time_us for status in statuses)
        pulls = [status.pulled for status in statuses if status.stream == statuses[0].stream]
        pulled = max(pulls, key=lambda pull: (pull.until_us, -pull.at_us))
        return judge.look(
            Look(
                time_us=self._looked_us,
                offered=sum(status.offered for status in statuses),
                drained=self._schedule.count_before(pulled.until_us),
                worked_off=self._schedule.count_before(pulled.from_us),
                pulled_us=pulled.at_us,
            )
        )

    def _begin(self, alignment_us: int) -> None:
        earliest = time.time_ns() // 1_000 + LEAD_US
        self.start_us = -(-earliest // alignment_us) * alignment_us
        for instance in self._instances:
            instance.send("start", start_us=self.start_us)
        self._directory.log_event("load", start_us=self.start_us)

    def drain(self) -> bool:
        """Waits until the system is through; False when it is not, in the end."""
        assert self._system is not None
        self._system.send("drain")
        patience_s = self._plan.experiment.timeouts.drain / 1e6
        began = progressed = time.monotonic()
        seen = (-1, -1)
        while "drained" not in self._system.latest:
            now = (self.drained, self.results)
            if now != seen:
                seen, progressed = now, time.monotonic()
            if time.monotonic() > min(progressed + patience_s, began + LONGEST_DRAIN * patience_s):
                return False
            time.sleep(TICK_S)
            self._look()
            self._tell("")
        return True

    def close(self, *, drained: bool) -> RunRecord:
        """Ends the run: what arrives from now on is late."""
        assert self._system is not None
        assert self._sink is not None
        closed_us = time.time_ns() // 1_000
        self.let_go()
        statuses = []
        for instance in self._instances:
            instance.send("finish")
            statuses.append(InstanceStatus.model_validate(instance.wait_for("finished", 30)))
        self._sink.send("finish")
        self._sink.wait_for("finished", 60)
        self._require_sound_driver()
        return RunRecord(
            load=self._plan.load,
            query=self._plan.query_config,
            warm_up_us=self._plan.experiment.warm_up_us,
            start_us=self.start_us,
            end_us=self.end_us,
            closed_us=closed_us,
            drained=drained,
            dropped=self._dropped,
            hopeless=self._hopeless,
            instances=statuses,
        )

    def let_go(self) -> None:
        """Ends the work of the system on this trial, whatever is left in the queues."""
        assert self._system is not None
        self._system.send("end")
        ended = self._system.wait_for("ended", END_TIMEOUT_S)
        self.own_words = ended.get("own_words", [])
        self._system = None

    @property
    def now_us(self) -> int:
        """Microseconds since the load began."""
        return time.time_ns() // 1_000 - self.start_us

    @property
    def statuses(self) -> list[InstanceStatus]:
        found = [instance.latest.get("status") for instance in self._instances]
        return [InstanceStatus.model_validate(status) for status in found if status]

    @property
    def sink_status(self) -> SinkStatus:
        status = self._sink.latest.get("status") if self._sink else None
        return SinkStatus.model_validate(status) if status else SinkStatus(results=0)

    @property
    def drained(self) -> int:
        return sum(status.drained for status in self.statuses)

    @property
    def results(self) -> int:
        return self.sink_status.results

    def progress(
        self, phase: str, note: str, elapsed_s: float = 0.0, remaining_s: float = 0.0
    ) -> Progress:
        """This moment, with what the driver instances and the sink have told last."""
        statuses, sink = self.statuses, self.sink_status
        if not statuses:
            return Progress(phase, note, elapsed_s, remaining_s)
        seconds = max(0.1, statuses[0].time_us / 1e6)
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

    def _look(self) -> list[str]:
        """Events of all components; the reasons why the load should be cut, if there are any."""
        assert self._system is not None
        assert self._sink is not None
        reasons = []
        for instance in self._instances:
            for message in instance.poll():
                if message["event"] in ("unsustained", "dropped"):
                    reasons.append(f"{instance.name}: {message['reason']}")
                if message["event"] == "dropped":
                    self._dropped.append(message["reason"])
        self._sink.poll()
        self._require_sound_driver()
        for message in self._system.poll():
            self._directory.log_event("system", said=message)
            if message["event"] == "failed":
                raise _failure(self._system)
        return reasons

    def _require_sound_driver(self) -> None:
        """A thread that fails leaves its process alive, but not what it was there for."""
        assert self._sink is not None
        for component in (*self._instances, self._sink):
            if "failed" in component.latest:
                raise _failure(component)

    def _cut(self, reasons: list[str]) -> None:
        self.end_us = min(self.end_us, self.now_us + CUT_LEAD_US)
        for instance in self._instances:
            instance.send("cut", end_us=self.end_us)
        self._directory.log_event("cut", reasons=reasons, end_us=self.end_us)

    def _tell_system_phase(self) -> None:
        assert self._system is not None
        self._tell(str(self._system.latest.get("phase", {}).get("name", "starting the system")))

    def _launch_sink(self) -> Component:
        config = SinkProcessConfig(folder=self._directory.results, listen=self._plan.listen)
        return self._launch("sink", "sink", config.model_dump_json())

    def _launch_instance(self, number: int) -> Component:
        config = InstanceProcessConfig(
            instance=InstanceConfig(
                load=self._plan.load,
                instance=number,
                policy=self._plan.policy,
                folder=self._directory.driver(number),
            ),
            listen=self._plan.listen,
        )
        return self._launch(f"driver instance {number}", "instance", config.model_dump_json())

    def _launch(self, name: str, role: str, config: str) -> Component:
        short = name.replace("driver instance ", "driver-")
        path = self._station.scratch / f"{short}.json"
        path.write_text(config)
        path.chmod(0o600)
        return Component(
            name,
            module_argv("streamgauge.channels.direct.processes", role, str(path)),
            log=self._directory.logs / f"{short}.log",
            env={**LARGE_ARRAYS, **self._station.env},
        )

    def _roles(self) -> dict[str, Role]:
        sink, system = self._sink, self._system
        assert sink is not None
        assert system is not None

        def handed() -> int:
            return sum(status.bytes_handed for status in self.statuses)

        def arrived() -> int:
            return self.sink_status.bytes_arrived

        nodes = self._station.nodes
        roles = {
            "driver": Role(lambda: [instance.pid for instance in self._instances], handed),
            "system": Role(lambda: [system.pid, *nodes.values()], lambda: handed() + arrived()),
            "sink": Role(lambda: [sink.pid], arrived),
        }
        for name, pid in nodes.items():
            roles[name] = Role(lambda pid=pid: [pid], None)  # type: ignore[misc]
        return roles


def _failure(component: Component) -> Exception:
    component.stop()
    return component.death()


def _endpoint(message: Message) -> Endpoint:
    return Endpoint.model_validate(message["endpoint"])
