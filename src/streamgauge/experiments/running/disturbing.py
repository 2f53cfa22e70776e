"""Does the planned faults to a running trial, each at its moment and in a thread of its own."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Sequence
from pathlib import Path

from streamgauge.channels.base import OpenChannel
from streamgauge.disturb.base import FaultFailed
from streamgauge.disturb.section import PlannedFault
from streamgauge.experiments.running.station import Station
from streamgauge.measure.record import FaultRecord
from streamgauge.processes.clock import Clock
from streamgauge.processes.roles import RoleProcess
from streamgauge.processes.targets import Revived
from streamgauge.systems.running import RunningSystem

LAST_WAIT_S = 60.0
"""For faults to be undone at the end of the load: a service may be starting again."""


class TrialScene:
    """What faults find in a trial."""

    def __init__(
        self, running: RunningSystem, station: Station, channel: OpenChannel, checkpoint: Path
    ) -> None:
        self._running = running
        self._station = station
        self._channel = channel
        self.checkpoint = checkpoint
        self._ending = threading.Event()

    def processes(self, target: str) -> Sequence[RoleProcess]:
        services = [one for one in self._station.service_processes() if one.role == target]
        return sorted(self._running.members(target) + services, key=lambda one: one.name)

    def revived(self, process: RoleProcess) -> Revived | None:
        return self._station.revived(process) or self._running.revived(process)

    def cut_connection(self, target: str, for_s: float) -> None:
        self._channel.cut_connection(target, for_s)

    def wait(self, seconds: float) -> bool:
        return not self._ending.wait(seconds)

    def end(self) -> None:
        """Whoever waits goes on at once, and undoes what it has begun."""
        self._ending.set()


class Disturber:
    """The time line of the faults; what has happened is read by the loop of the trial."""

    def __init__(
        self, faults: Sequence[PlannedFault], scene: TrialScene, clock: Clock, start_us: int
    ) -> None:
        self._faults = faults
        self._scene = scene
        self._clock = clock
        self._start_us = start_us
        self._lock = threading.Lock()
        self._records: list[FaultRecord] = []
        self._news: list[FaultRecord] = []
        self._threads: list[threading.Thread] = []
        self._timer = threading.Thread(target=self._work, name="faults", daemon=True)
        self._timer.start()

    @property
    def begun(self) -> bool:
        """Has a fault happened?"""
        with self._lock:
            return any(one.began_us is not None for one in self._records)

    def news(self) -> list[FaultRecord]:
        """Faults that have been done, or could not be, since the last call."""
        with self._lock:
            found, self._news = self._news, []
        return found

    def stop(self) -> list[FaultRecord]:
        """Ends the time line and undoes what lasts; the faults, in the order of time."""
        self._scene.end()
        self._timer.join()
        deadline_s = self._clock.monotonic_s() + LAST_WAIT_S
        for thread in self._threads:
            thread.join(max(0.0, deadline_s - self._clock.monotonic_s()))
        with self._lock:
            return list(self._records)

    def _now_us(self) -> int:
        return self._clock.now_us() - self._start_us

    def _work(self) -> None:
        for number, planned in enumerate(self._faults):
            left_s = (planned.at_us - self._now_us()) / 1e6
            if left_s > 0 and not self._scene.wait(left_s):
                return
            record = FaultRecord(
                name=planned.name, target=planned.target, asked_us=planned.at_us, began_us=None
            )
            with self._lock:
                self._records.append(record)
            thread = threading.Thread(target=self._do, args=(number, planned), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _do(self, number: int, planned: PlannedFault) -> None:
        began_us = self._now_us()

        def begun(victim: str) -> None:
            self._update(
                number, tell=True, victim=victim, began_us=began_us, done_us=self._now_us()
            )

        try:
            planned.fault.do(self._scene, planned.target, planned.draw, begun)
        except FaultFailed as error:
            self._update(number, tell=True, failed=str(error))
        except Exception as error:
            traceback.print_exc()
            self._update(number, tell=True, failed=f"{type(error).__name__}: {error}")
        self._update(number, ended_us=self._now_us())

    def _update(self, number: int, *, tell: bool = False, **changes: object) -> None:
        with self._lock:
            self._records[number] = self._records[number].model_copy(update=changes)
            if tell:
                self._news.append(self._records[number])
