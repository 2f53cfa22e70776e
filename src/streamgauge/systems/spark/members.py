"""The processes that Spark starts itself: executors, and Python workers below them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import psutil

from streamgauge.processes.roles import RoleProcess

EXECUTOR = "executor"
PYTHON_WORKER = "python worker"
_EXECUTOR = "CoarseGrainedExecutorBackend"
_DAEMON = "pyspark.daemon"


def members(role: str, roots: Sequence[RoleProcess]) -> list[RoleProcess]:
    """Those of a role, in the order of their names."""
    found: list[RoleProcess] = []
    if role == EXECUTOR:
        for process, command in _descendants(roots):
            if any(_EXECUTOR in word for word in command) and "--executor-id" in command:
                number = command[command.index("--executor-id") + 1]
                found.append(RoleProcess(role, f"executor {number}", process.pid))
    elif role == PYTHON_WORKER:
        # The daemon forks a worker for each task that runs at the same time.
        daemons = [one for one, command in _descendants(roots) if _DAEMON in " ".join(command)]
        pids = {one.pid for one in daemons}
        workers = sorted(one.pid for one in daemons if _parent(one) in pids)
        found = [RoleProcess(role, f"python worker {pid}", pid) for pid in workers]
    return sorted(found, key=lambda one: one.name)


def _descendants(roots: Sequence[RoleProcess]) -> Iterator[tuple[psutil.Process, list[str]]]:
    for root in roots:
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(root.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    yield process, process.cmdline()


def _parent(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.Error):
        return process.ppid()
    return 0
