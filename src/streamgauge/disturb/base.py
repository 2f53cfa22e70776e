"""A fault: its settings, what it can be done to, and what it does.

A fault is a class with typed settings, registered under the entry point group `streamgauge.faults`
by the word that an experiment file uses for it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Protocol

from streamgauge.models import StrictModel
from streamgauge.processes.roles import RoleProcess
from streamgauge.processes.targets import Nature, Revived
from streamgauge.units import DurationUs


class FaultFailed(Exception):
    """The fault could not be done, as a sentence; the run goes on."""


class Scene(Protocol):
    """What a fault finds when it is done."""

    def processes(self, target: str) -> Sequence[RoleProcess]:
        """The living processes of a role, in the order of their names."""

    def revived(self, process: RoleProcess) -> Revived | None:
        """How it is started again, if anybody does."""

    def cut_connection(self, target: str, for_s: float) -> None:
        """Breaks calls off that go on, and refuses new ones for so long; returns at once."""

    @property
    def checkpoint(self) -> Path:
        """The folder of the assignment's checkpoint."""

    def wait(self, seconds: float) -> bool:
        """Waits; False: the load has ended meanwhile, so what was begun must be undone."""


Begun = Callable[[str], None]
"""Called with the name of the victim at the moment at which the fault has happened."""


class Fault(StrictModel):
    """A fault with its settings, which are the fields of the subclass."""

    natures: ClassVar[frozenset[Nature]] = frozenset({Nature.PROCESS})
    """Targets that it can be done to."""
    power: ClassVar[str] = ""
    """What a system must allow, such as `kill`; empty: nothing."""

    @property
    def length_us(self) -> int:
        """How long it lasts; 0: a moment."""
        return 0

    @abstractmethod
    def do(self, scene: Scene, target: str, draw: int, begun: Begun) -> None:
        """Does it and, if it lasts, undoes it; runs in a thread of its own.

        `draw` chooses one of several processes of the target.
        """


class LastingFault(Fault):
    """A fault that ends after a while."""

    length: DurationUs

    @property
    def length_us(self) -> int:
        return self.length


def chosen(scene: Scene, target: str, draw: int) -> RoleProcess:
    """One of the living processes of the target."""
    processes = scene.processes(target)
    if not processes:
        raise FaultFailed(f"there was no {target}")
    return processes[draw % len(processes)]
