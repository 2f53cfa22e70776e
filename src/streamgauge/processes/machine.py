"""What else this machine does: other programs, other virtual machines, other runs."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import psutil

SAMPLED_S = 0.5
BUSY_SHARE = 0.25
"""Of the machine's cores: with more in use by others, figures are noticeably worse."""
_GUARD = "streamgauge.processes.guard"
_NOT_BUSY = frozenset({"idle", "iowait", "guest", "guest_nice"})
"""Linux counts the time of guests as time of the user, too."""


class CpuTime(NamedTuple):
    """Of all cores since the machine was started."""

    busy_s: float
    """With what was stolen."""
    stolen_s: float
    """What the host gave to other virtual machines."""


def cpu_time() -> CpuTime:
    times = psutil.cpu_times()._asdict()
    busy_s = sum(seconds for name, seconds in times.items() if name not in _NOT_BUSY)
    return CpuTime(busy_s, times.get("steal", 0.0))


@dataclass(frozen=True)
class OtherWork:
    """Use of this machine by others than this process, in cores."""

    cores: int
    used: float
    stolen: float = 0.0
    busiest: str = ""
    runs: int = 0
    """Runs of streamgauge that go on."""

    @property
    def is_much(self) -> bool:
        return self.runs > 0 or self.used >= BUSY_SHARE * self.cores

    def __str__(self) -> str:
        parts = [f"other programs use {self.used:.1f} of {self.cores} core(s)"]
        if self.is_much and self.busiest:
            parts.append(f"the busiest is {self.busiest}")
        if self.stolen >= 0.05:
            parts.append(f"{self.stolen:.1f} of these go to other virtual machines (steal time)")
        if self.runs:
            parts.append(f"{self.runs} other run(s) of streamgauge go on")
        return "; ".join(parts)


def other_work(seconds: float = SAMPLED_S) -> OtherWork:
    """Samples the machine for that long."""
    before, before_s, began = _cpu_of_processes(), cpu_time(), time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    after, after_s = _cpu_of_processes(), cpu_time()
    used_s = {one: cpu_s - before.get(one, cpu_s) for one, cpu_s in after.items()}
    own_s = used_s.pop(psutil.Process(), 0.0)
    busiest = max(used_s, key=lambda one: used_s[one], default=None)
    described = ""
    if busiest is not None and used_s[busiest] > 0:
        with suppress(psutil.Error):
            described = f"`{busiest.name()}` (pid {busiest.pid}, {used_s[busiest] / passed:.1f})"
    cores = os.cpu_count() or 1
    used = (after_s.busy_s - before_s.busy_s - own_s) / passed
    return OtherWork(
        cores,
        # The kernel counts in ticks, so a short time may seem to have too many.
        used=min(max(0.0, used), cores),
        stolen=max(0.0, after_s.stolen_s - before_s.stolen_s) / passed,
        busiest=described,
        runs=sum(map(_is_guard_of_another_run, after)),
    )


def _cpu_of_processes() -> dict[psutil.Process, float]:
    found = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            times = process.cpu_times()
            found[process] = times.user + times.system
    return found


def _is_guard_of_another_run(process: psutil.Process) -> bool:
    """Every run has one guard, which is a child of the process that runs it."""
    with suppress(psutil.Error):
        return _GUARD in process.cmdline() and process.ppid() != os.getpid()
    return False
