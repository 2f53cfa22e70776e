"""A fault of connections: those of the direct channel are cut."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from streamgauge.disturb.base import Begun, LastingFault, Scene
from streamgauge.processes.targets import Nature
from streamgauge.units import SECOND_US, DurationUs


class Drop(LastingFault):
    """Breaks the calls of the system off that are going on, and refuses new ones for a while."""

    natures: ClassVar[frozenset[Nature]] = frozenset({Nature.CONNECTION})

    length: DurationUs = Field(default=SECOND_US, alias="for", gt=0)

    def do(self, scene: Scene, target: str, draw: int, begun: Begun) -> None:  # noqa: ARG002
        # First, or the calls that break would be taken for a fault of the system.
        begun(target)
        scene.cut_connection(target, self.length / 1e6)
        scene.wait(self.length / 1e6)
