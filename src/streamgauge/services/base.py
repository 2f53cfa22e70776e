"""A service: a component that streamgauge starts on this machine, watches and stops.

Services are registered under the entry point group `streamgauge.services`. Each listens on a free
port of 127.0.0.1 and keeps its data in a folder of the run.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from streamgauge.errors import ComponentError
from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from streamgauge.processes.launcher import LaunchedProcess, Launcher
from streamgauge.processes.roles import RoleProcess

HOST = "127.0.0.1"
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
_POLL_S = 0.1
Tell = Callable[[str], None]


class Service(ABC):
    """One process; a context manager."""

    name: ClassVar[str]
    """For messages, such as `the Kafka broker`."""
    role: ClassVar[str]
    """For the monitor and for faults, such as `broker`."""
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    """Ends the process at once, even if clients are connected."""
    orderly_signal: ClassVar[signal.Signals] = signal.SIGTERM
    """Ends it so that its data are whole, even if clients are connected."""

    def __init__(
        self,
        *,
        folder: Path,
        logs: Path,
        launcher: Launcher,
        tell: Tell = lambda _: None,
        clock: Clock = SYSTEM_CLOCK,
        standing: bool = False,
    ) -> None:
        """A standing service lives on when the process that has started it ends."""
        self.folder = folder
        self.log = logs / f"{self.role}.log"
        self._launcher = launcher
        self._tell = tell
        self._clock = clock
        self._standing = standing
        self._process: LaunchedProcess | None = None
        self._away = False
        """Was it ended on purpose, to be started again?"""

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    @abstractmethod
    def address(self) -> str:
        """What a client connects to."""

    @classmethod
    @abstractmethod
    def found(cls) -> str:
        """What it would be started from; a StreamgaugeError if it cannot be."""

    @abstractmethod
    def _launch(self) -> LaunchedProcess:
        """Prepares the folder, unless it is prepared already, and starts the process."""

    @abstractmethod
    def _ready(self, process: LaunchedProcess) -> bool:
        """Whether it answers clients."""

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Returns when the service answers; after a failure nothing is left running."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._process = self._launch()
        self._away = False
        deadline = self._clock.monotonic_s() + timeout_s
        try:
            while not self._ready(self._process):
                self.check()
                if self._clock.monotonic_s() > deadline:
                    cause = f"{self.name} did not answer within {timeout_s:.0f} s"
                    raise ComponentError(cause, fix="see its log", log=self.log)
                self._clock.sleep(_POLL_S)
        except BaseException:
            self.stop()
            raise

    def check(self) -> None:
        """Fails if the process has died; the error names it and its log."""
        if self._process is not None and not self._process.alive and not self._away:
            raise self._process.death()

    def end(self, *, at_once: bool) -> None:
        """Ends it on purpose, at once or in order; its data stay."""
        if self._process is None:
            return
        self._away = True
        if at_once:
            self._process.kill()
        else:
            self._process.send(self.orderly_signal)
        if not self._process.wait(STOP_TIMEOUT_S):
            self._process.kill()
            self._process.wait()

    def revive(self) -> None:
        """Starts it again after `end`, with its data and at its address."""
        self.start()

    def processes(self) -> list[RoleProcess]:
        process = self._process
        if process is None or not process.alive:
            return []
        return [RoleProcess(self.role, self.role, process.pid, process.site)]

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.send(self.stop_signal)
        if not self._process.wait(STOP_TIMEOUT_S):
            self._process.kill()
            self._process.wait()
        self._process = None

    def _run(self, argv: Sequence[str]) -> None:
        """Runs a command that prepares the folder."""
        process = self._launcher.start(self.name, argv, log=self.log)
        if not process.wait(START_TIMEOUT_S) or process.exit_code:
            process.kill()
            raise process.death()


def cache_folder(env: Mapping[str, str] = os.environ) -> Path:
    """What streamgauge keeps from run to run for this user."""
    cache = env.get("XDG_CACHE_HOME") or str(Path(env.get("HOME") or Path.home()) / ".cache")
    return Path(cache) / "streamgauge"


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago; a service reports it when one is taken meanwhile."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]
