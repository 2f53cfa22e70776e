"""A running system: its processes, the assignment it works on, and what can be done to it."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import psutil

from streamgauge.errors import ComponentError
from streamgauge.processes.component import Component, Message
from streamgauge.processes.roles import RoleProcess
from streamgauge.processes.targets import PROGRAM, Revived

if TYPE_CHECKING:
    from streamgauge.systems.base import Assignment

Tell = Callable[[str], None]
Diagnostics = list[dict[str, int]]
"""What the system reports of its own work: used for advice on tuning, never for a figure."""
END_TIMEOUT_S = 60.0


class RunningSystem(ABC):
    """A started system; it works on one assignment at a time."""

    quiet_s = 5.0
    """One that cannot say that it is drained counts as drained if nothing new comes so long."""
    runs_on = False
    """Whether it goes on with what is left of an assignment that was ended."""

    @property
    def processes(self) -> Sequence[RoleProcess]:
        """Those that are alive; a system in a thread of the station has none."""
        return ()

    @property
    def alive(self) -> bool:
        """Can it take another assignment?"""
        return True

    @property
    def failed(self) -> bool:
        """Has it died, or reported that it cannot go on?"""
        return False

    def members(self, role: str) -> list[RoleProcess]:
        """The living processes of a role, also those that the system has started itself."""
        return [process for process in self.processes if process.role == role]

    def revived(self, process: RoleProcess) -> Revived | None:  # noqa: ARG002
        """How a process is started again after a fault; None: the system does it, or nobody."""
        return None

    @abstractmethod
    def begin(self, assignment: Assignment, timeout_s: float, tell: Tell) -> None:
        """Returns when the system waits for input."""

    def poll(self) -> list[Message]:
        """What it has reported since the last call; raises an error when it has failed."""
        return []

    @abstractmethod
    def drain(self) -> None:
        """Asks it to process everything that was offered."""

    @property
    @abstractmethod
    def drained(self) -> bool | None:
        """Has it processed everything since `drain`? None: the system cannot say."""

    @abstractmethod
    def end(self) -> Diagnostics:
        """Ends the work on the assignment, whatever is left to do."""

    def stop(self) -> None:  # noqa: B027
        """Ends the system and the services that were started for it."""


@runtime_checkable
class CanKill(Protocol):
    """A process of it can be ended without warning."""

    def kill(self, process: RoleProcess) -> None: ...


@runtime_checkable
class CanPause(Protocol):
    """A process of it can be stopped for a while."""

    def pause(self, process: RoleProcess) -> None: ...

    def resume(self, process: RoleProcess) -> None: ...


@runtime_checkable
class CanRestart(Protocol):
    """It can be started again after it was killed, and continues its assignment."""

    def restart(self, timeout_s: float, tell: Tell) -> None: ...


@runtime_checkable
class CanScale(Protocol):
    """The number of its processes of a role can change while it runs."""

    def scale(self, role: str, count: int) -> None: ...


class KillAndPause:
    """These powers, for processes of this machine."""

    def kill(self, process: RoleProcess) -> None:
        act_on(process, psutil.Process.kill)

    def pause(self, process: RoleProcess) -> None:
        act_on(process, psutil.Process.suspend)

    def resume(self, process: RoleProcess) -> None:
        act_on(process, psutil.Process.resume)


class RunningProgram(KillAndPause, RunningSystem):
    """A system that is a program in a process of its own and speaks JSON lines.

    The program reports `up` when it has started. It answers `begin {assignment}` with `ready` when
    it waits for input, `drain` with `drained` when everything that was offered has been processed
    (`drained {known: false}`: it cannot say), and `end` with `ended {diagnostics}`; another `begin`
    may follow. It reports `failed {reason, fix, usage}` when it cannot continue; ends on `stop`.
    """

    def __init__(
        self,
        launch: Callable[[], Component],
        timeout_s: float,
        tell: Tell,
        services: contextlib.ExitStack | None = None,
        service_processes: Callable[[], Sequence[RoleProcess]] = lambda: (),
        find: Callable[[str, Sequence[RoleProcess]], list[RoleProcess]] = lambda *_: [],
        revived: Callable[[RoleProcess], Revived | None] = lambda _: None,
    ) -> None:
        """`find` finds processes of a role among the descendants of those that are known."""
        self._find = find
        self._revived = revived
        self._launch = launch
        self._services = services or contextlib.ExitStack()
        self._service_processes = service_processes
        self._assignment: Assignment | None = None
        self._program = launch()
        try:
            self._wait_for("up", timeout_s, tell)
        except BaseException:
            self.stop()
            raise

    @property
    def processes(self) -> list[RoleProcess]:
        program = RoleProcess(PROGRAM, self._program.name, self._program.pid, self._program.site)
        return [*([program] if self._program.alive else []), *self._service_processes()]

    @property
    def alive(self) -> bool:
        return self._program.alive

    @property
    def failed(self) -> bool:
        return not self._program.alive or "failed" in self._program.latest

    def members(self, role: str) -> list[RoleProcess]:
        return super().members(role) or self._find(role, self.processes)

    def revived(self, process: RoleProcess) -> Revived | None:
        return self._revived(process)

    def begin(self, assignment: Assignment, timeout_s: float, tell: Tell) -> None:
        self._assignment = assignment
        self._program.latest.pop("drained", None)
        self._program.send("begin", assignment=assignment.model_dump(mode="json"))
        self._wait_for("ready", timeout_s, tell)

    def poll(self) -> list[Message]:
        messages = self._program.poll()
        self._program.require_sound()
        return messages

    def drain(self) -> None:
        self._program.send("drain")

    @property
    def drained(self) -> bool | None:
        answer = self._program.latest.get("drained")
        return answer is not None and (True if answer.get("known", True) else None)

    def end(self) -> Diagnostics:
        self._program.send("end")
        ended = self._program.wait_for("ended", END_TIMEOUT_S)
        self._assignment = None
        diagnostics: Diagnostics = ended.get("diagnostics", [])
        return diagnostics

    def stop(self) -> None:
        self._program.stop()
        self._services.close()

    def restart(self, timeout_s: float, tell: Tell) -> None:
        """Starts the program again; its assignment continues from the checkpoint."""
        self._program.stop()
        self._program = self._launch()
        self._wait_for("up", timeout_s, tell)
        if self._assignment is not None:
            self.begin(self._assignment.model_copy(update={"resumed": True}), timeout_s, tell)

    def _wait_for(self, event: str, timeout_s: float, tell: Tell) -> None:
        def show_phase() -> None:
            phase = self._program.latest.get("phase", {})
            tell(str(phase.get("name", "starting the system")))

        self._program.wait_for(event, timeout_s, meanwhile=show_phase)


def act_on(process: RoleProcess, act: Callable[[psutil.Process], Any]) -> None:
    """Acts on the process and its children, such as the JVM of a Python program."""
    try:
        root = psutil.Process(process.pid)
        family = [root, *root.children(recursive=True)]
    except psutil.Error as error:
        raise ComponentError(f"{process.name} ({process.role}) is not running") from error
    for member in family:
        with contextlib.suppress(psutil.Error):
            act(member)
