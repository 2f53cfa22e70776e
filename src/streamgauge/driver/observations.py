"""What is seen of a load from outside the system: how much was offered, taken and finished.

A channel makes observations; policies and the judges of probes decide on them.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Basis(str, Enum):
    """How the channel determines what the system has taken."""

    PULLED = "pulled"
    """The system asked for it: exact, and exact in time."""
    COMMITTED = "committed"
    """The system confirmed it: exact, and late by up to one commit interval."""
    FRONTIER = "frontier"
    """The results reflect it: everything up to their latest event time counts as taken."""


class Observation(NamedTuple):
    """One moment of one source of events, or of all; counts and times start with the load."""

    source: str
    """Such as `driver instance 0`; empty for all sources together."""
    time_us: int
    offered: int
    taken: int
    finished: int = 0
    """Events that the system had finished when it took the last of those that it has taken."""
    taken_at_us: int = 0
    """When it took them."""
    basis: Basis = Basis.PULLED

    @property
    def queued(self) -> int:
        """Events that wait for the system."""
        return max(0, self.offered - self.taken)
