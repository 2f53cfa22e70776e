"""What faults can be done to: the targets that systems, channels and services have."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

PROGRAM = "program"
"""The process that runs the query."""


class Nature(str, Enum):
    """What a target is."""

    PROCESS = "a process of the system"
    SERVICE = "a service of this run"
    CONNECTION = "a connection"
    CHECKPOINT = "the checkpoint"
    DISK = "the disk of the checkpoint"


class Revived(Protocol):
    """A process that is started again after it was ended: a service, a node of a cluster."""

    def end(self, *, at_once: bool) -> None:
        """Ends it, at once or in order; nobody takes this for a failure."""

    def revive(self) -> None:
        """Starts it again with its data, at its address; returns when it answers."""


class Target(NamedTuple):
    """Something that a fault can be done to, by a name such as `executor`."""

    nature: Nature
    why_not: str = ""
    """Why it does not exist with these settings; empty: it exists."""
