"""Faults of processes: kill, pause, slow, restart."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import ClassVar

import psutil
from pydantic import Field

from streamgauge.disturb.base import Begun, Fault, FaultFailed, LastingFault, Scene, chosen
from streamgauge.errors import ComponentError
from streamgauge.processes.roles import RoleProcess
from streamgauge.processes.targets import Nature
from streamgauge.systems.running import act_on
from streamgauge.units import DurationUs, Share

SLICE_S = 0.1
"""Of a slowed process: in each slice it is stopped for a part of the time."""
MOST_DELAY_S = 2.0
LOOK_EVERY_S = 0.001
_PROCESSES = frozenset({Nature.PROCESS, Nature.SERVICE})


class Kill(Fault):
    """Ends a process and its children without warning (SIGKILL).

    A service or a node of a cluster is started again after `for`, with its data.
    """

    natures: ClassVar[frozenset[Nature]] = _PROCESSES
    power: ClassVar[str] = "kill"

    length: DurationUs = Field(
        default=0, alias="for", description="how long a service or node stays away"
    )

    @property
    def length_us(self) -> int:
        return self.length

    def do(self, scene: Scene, target: str, draw: int, begun: Begun) -> None:
        victim = chosen(scene, target, draw)
        again = scene.revived(victim)
        if again is not None:
            again.end(at_once=True)
        else:
            act(victim, psutil.Process.kill)
            wait_until(victim, psutil.STATUS_ZOMBIE)
        begun(victim.name)
        if again is not None:
            scene.wait(self.length / 1e6)
            again.revive()


class Restart(Fault):
    """Ends a service or a node in order (SIGTERM) and starts it again after `for`."""

    natures: ClassVar[frozenset[Nature]] = _PROCESSES
    power: ClassVar[str] = "kill"

    length: DurationUs = Field(default=0, alias="for", description="how long it stays away")

    @property
    def length_us(self) -> int:
        return self.length

    def do(self, scene: Scene, target: str, draw: int, begun: Begun) -> None:
        victim = chosen(scene, target, draw)
        again = scene.revived(victim)
        if again is None:
            raise FaultFailed(f"nobody would start {victim.name} again")
        again.end(at_once=False)
        begun(victim.name)
        scene.wait(self.length / 1e6)
        again.revive()


class Pause(LastingFault):
    """Stops a process and its children for a while (SIGSTOP, SIGCONT)."""

    natures: ClassVar[frozenset[Nature]] = _PROCESSES
    power: ClassVar[str] = "pause"

    length: DurationUs = Field(alias="for", gt=0)

    def do(self, scene: Scene, target: str, draw: int, begun: Begun) -> None:
        victim = chosen(scene, target, draw)
        act(victim, psutil.Process.suspend)
        try:
            wait_until(victim, psutil.STATUS_STOPPED)
            begun(victim.name)
            scene.wait(self.length / 1e6)
        finally:
            resume(victim)


class Slow(LastingFault):
    """Takes a share of its time away from a process and its children, in slices of 100 ms."""

    natures: ClassVar[frozenset[Nature]] = _PROCESSES
    power: ClassVar[str] = "pause"

    length: DurationUs = Field(alias="for", gt=0)
    by: Share = Field(default=0.5, gt=0, lt=1, description="share of its time that is taken away")

    def do(self, scene: Scene, target: str, draw: int, begun: Begun) -> None:
        victim = chosen(scene, target, draw)
        slices = max(1, round(self.length / 1e6 / SLICE_S))
        try:
            for number in range(slices):
                act(victim, psutil.Process.suspend)
                if number == 0:
                    begun(victim.name)
                going_on = scene.wait(SLICE_S * self.by)
                resume(victim)
                if not going_on or not scene.wait(SLICE_S * (1 - self.by)):
                    return
        finally:
            resume(victim)


def act(victim: RoleProcess, how: Callable[[psutil.Process], None]) -> None:
    try:
        act_on(victim, how)
    except ComponentError as error:
        raise FaultFailed(error.cause) from None


def wait_until(victim: RoleProcess, state: str) -> None:
    """A signal takes effect when the kernel gets to it; a process that is gone is dead."""
    deadline_s = time.monotonic() + MOST_DELAY_S
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(victim.pid)
        while process.status() not in (state, psutil.STATUS_ZOMBIE):
            if time.monotonic() > deadline_s:
                return
            time.sleep(LOOK_EVERY_S)


def resume(victim: RoleProcess) -> None:
    """A process that has ended meanwhile needs nothing."""
    try:
        act_on(victim, psutil.Process.resume)
    except ComponentError:
        return
