"""A user's program at work: a process for each assignment, or one that runs already."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil

from streamgauge import plugins
from streamgauge.errors import ComponentError
from streamgauge.processes.clock import SYSTEM_CLOCK
from streamgauge.processes.component import Message
from streamgauge.processes.launcher import LaunchedProcess
from streamgauge.processes.roles import RoleProcess
from streamgauge.processes.targets import PROGRAM
from streamgauge.systems.base import Assignment, SystemContext
from streamgauge.systems.program.command import arguments
from streamgauge.systems.program.connector import ProgramConnector
from streamgauge.systems.running import Diagnostics, KillAndPause, RunningSystem, Tell

NAME = "the program"
STOP_TIMEOUT_S = 5.0
LOOK_EVERY_S = 0.2


class StartedProgram(KillAndPause, RunningSystem):
    """Started for each assignment, because it is told its topics when it starts."""

    drained = None

    def __init__(
        self, context: SystemContext, command: str, folder: Path, ready: str | None, quiet_s: float
    ) -> None:
        self._context = context
        self._command = command
        self._folder = folder
        self._ready = ready
        self.quiet_s = quiet_s
        self._process: LaunchedProcess | None = None

    @property
    def processes(self) -> list[RoleProcess]:
        process = self._process
        if process is None or not process.alive:
            return []
        return [RoleProcess(PROGRAM, NAME, process.pid, process.site)]

    @property
    def failed(self) -> bool:
        return self._process is not None and not self._process.alive

    def begin(self, assignment: Assignment, timeout_s: float, tell: Tell) -> None:
        connector: ProgramConnector = plugins.load_path(assignment.connector)(assignment)
        self._process = process = self._context.launcher.start(
            NAME,
            arguments(self._command, connector.words),
            log=self._context.logs / "program.log",
            env=connector.env,
            folder=self._folder,
        )
        tell("waiting until the program reads its input")
        deadline_s = SYSTEM_CLOCK.monotonic_s() + timeout_s
        while not self._reads(process, connector):
            self.poll()
            if SYSTEM_CLOCK.monotonic_s() > deadline_s:
                raise self._late(timeout_s, process)
            SYSTEM_CLOCK.sleep(LOOK_EVERY_S)

    def poll(self) -> list[Message]:
        if self._process is not None and not self._process.alive:
            raise self._process.death()
        return []

    def drain(self) -> None:
        """It does not know that the load has ended."""

    def end(self) -> Diagnostics:
        self.stop()
        return []

    def stop(self) -> None:
        """Asks the program and its children to end, and kills what has not ended in time."""
        process, self._process = self._process, None
        if process is None:
            return
        children: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            children = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        for child in children:
            with contextlib.suppress(psutil.Error):
                child.terminate()
        if not process.wait(STOP_TIMEOUT_S):
            process.kill()
            process.wait()
        for child in psutil.wait_procs(children, STOP_TIMEOUT_S)[1]:
            with contextlib.suppress(psutil.Error):
                child.kill()

    def _reads(self, process: LaunchedProcess, connector: ProgramConnector) -> bool:
        return connector.reads() if self._ready is None else self._ready in process.logged()

    def _late(self, timeout_s: float, process: LaunchedProcess) -> ComponentError:
        if self._ready is not None:
            cause = f"{NAME} did not print `{self._ready}` within {timeout_s:.0f} s"
            return ComponentError(cause, fix="see its log, and `system.ready`", log=process.log)
        return ComponentError(
            f"no consumer group has read the input within {timeout_s:.0f} s",
            fix="see the log of the program; if it reads without a consumer group, name a text "
            "that it prints when it reads: `system.ready`",
            log=process.log,
        )


class RunningAlready(RunningSystem):
    """A program that streamgauge neither starts nor stops."""

    drained = None
    runs_on = True

    def __init__(self, pid: int | None, quiet_s: float) -> None:
        self._pid = pid
        self.quiet_s = quiet_s

    @property
    def processes(self) -> list[RoleProcess]:
        return [] if self._pid is None else [RoleProcess(PROGRAM, NAME, self._pid)]

    @property
    def failed(self) -> bool:
        return self._pid is not None and not psutil.pid_exists(self._pid)

    def begin(self, assignment: Assignment, timeout_s: float, tell: Tell) -> None:
        """It reads already."""

    def poll(self) -> list[Message]:
        if self._pid is not None and not psutil.pid_exists(self._pid):
            cause = f"{NAME} died: there is no process {self._pid} any more"
            raise ComponentError(cause, fix="start it again, and see its own log")
        return []

    def drain(self) -> None:
        """It does not know that the load has ended."""

    def end(self) -> Diagnostics:
        return []
