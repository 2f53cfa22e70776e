"""The processes of a trial by role, for the monitor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from streamgauge.channels.base import OpenChannel
from streamgauge.processes.roles import Role, RoleProcess
from streamgauge.systems.running import RunningSystem


def roles_of(
    channel: OpenChannel, running: RunningSystem, services: Sequence[RoleProcess]
) -> dict[str, Role]:
    """The system as a whole, each of its processes but the first, the services."""
    roles = channel.roles()
    network_bytes = roles["system"].network_bytes if "system" in roles else None
    roles["system"] = Role(lambda: [one.pid for one in running.processes], network_bytes)
    for process in (*list(running.processes)[1:], *services):
        roles[process.name] = Role(partial(_pids, process, running), None)
    return roles


def _pids(process: RoleProcess, running: RunningSystem) -> list[int]:
    """Of that process, or of the one that was started in its place."""
    same = [one.pid for one in running.processes if one.name == process.name]
    return same or [process.pid]
