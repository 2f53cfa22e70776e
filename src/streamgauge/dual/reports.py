"""What the runtime reports of itself while it runs.

Each report is a line of JSON with its name as `event`. Times are microseconds since 1970.
"""

from __future__ import annotations

from typing import ClassVar

from streamgauge.dual.model.latency import Paradigm
from streamgauge.models import StrictModel


class Report(StrictModel):
    """Something that the runtime has seen, decided or done."""

    event: ClassVar[str]
    at_us: int


class Place(StrictModel):
    """A segment: neighbouring operations that run as one query."""

    operations: tuple[str, ...]
    paradigm: Paradigm
    stateful: bool = False


class Placed(Report):
    """The pipeline runs, with these segments."""

    event: ClassVar[str] = "dual-placed"
    segments: tuple[Place, ...]
    cut_because: str = ""
    """Why it is divided so, if that was to be chosen."""


class SegmentSeen(StrictModel):
    """A segment as the monitor sees it; a value is None until it is known."""

    operations: tuple[str, ...]
    paradigm: Paradigm
    queue: int
    """L: records that wait in front of it."""
    arrival_per_s: float | None = None
    processed_per_s: float | None = None
    magnification: float | None = None
    """λ: records out per record in."""
    data_speed_per_s: float | None = None
    operation_speed_per_s: float | None = None
    upper_limit: float | None = None
    lower_limit: float | None = None
    """The queue lengths L_up and L_down at which it would switch."""
    interval_ms: float | None = None
    """T: of its micro-batches, as operation stream."""
    schedule_ms: float | None = None
    """t_s: what scheduling one micro-batch takes."""


class Seen(Report):
    """All segments; once a second."""

    event: ClassVar[str] = "dual-seen"
    segments: tuple[SegmentSeen, ...]


class Decided(Report):
    """Another decision about a segment than before, and why."""

    event: ClassVar[str] = "dual-decided"
    operations: tuple[str, ...]
    action: str
    """stay, prepare or switch."""
    paradigm: Paradigm
    """That it is in."""
    target: Paradigm
    reason: str
    figures: dict[str, float | None]


class Failed(Report):
    """The query of a segment has ended by itself, and is started again."""

    event: ClassVar[str] = "dual-failed"
    operations: tuple[str, ...]
    failure: str


class Switched(Report):
    """A segment runs in the other paradigm; `at_us` is the time of its first result there."""

    event: ClassVar[str] = "dual-switched"
    operations: tuple[str, ...]
    paradigm: Paradigm
    """The new one."""
    asked_us: int
    last_output_us: int | None
    """The last result of the old run."""
    first_output_us: int | None
    """The first result of the new run; None: there was none within a minute."""
    parts_ms: dict[str, float]
    """What the time from the request to the first result consists of: stop, settle, start, first
    result."""
    interval_ms: float | None = None
    """Of the micro-batches, if it is an operation stream now."""

    @property
    def gap_ms(self) -> float | None:
        """From the last result of the old run to the first of the new one."""
        if self.last_output_us is None or self.first_output_us is None:
            return None
        return (self.first_output_us - self.last_output_us) / 1_000
