"""A system of known capacity and known faults, for tests and for trying policies."""

from streamgauge.systems.simulated.system import SimulatedSystem

__all__ = ["SimulatedSystem"]
