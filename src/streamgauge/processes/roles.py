"""The processes of a run by role, for the monitor and for faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from streamgauge.processes.places import THIS_MACHINE


class RoleProcess(NamedTuple):
    """One process of a system under test, or of a service that it needs."""

    role: str
    """Its purpose: `program`, `master`, `worker`, `broker`, …"""
    name: str
    pid: int
    site: str = THIS_MACHINE.site


@dataclass(frozen=True)
class Role:
    """A part of the station: its root processes, and the bytes that crossed its channel."""

    pids: Callable[[], Sequence[int]]
    network_bytes: Callable[[], int] | None = None
    """None: the channel does not count them, so the kernel's counts of its sockets are used."""
