"""What a runtime reported, read again: the paradigm of each operation over time, and why."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import Decided, Placed, Report, Seen, SegmentSeen, Switched
from streamgauge.errors import StreamgaugeError

_KINDS: dict[str, type[Report]] = {kind.event: kind for kind in (Placed, Seen, Decided, Switched)}


@dataclass(frozen=True)
class Band:
    """A time during which an operation ran in one paradigm."""

    from_us: int
    to_us: int
    paradigm: Paradigm


def read_reports(path: Path) -> list[Report]:
    """The reports in a file of JSON lines, in the order of their times.

    A runtime writes them as they are; the log of a run wraps what its system said. Other lines, and
    a last line that was cut off, are left out.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = [report for line in file if (report := _read(line, path)) is not None]
    except OSError as error:
        raise StreamgaugeError(f"{path} cannot be read: {error.strerror or error}") from error
    return sorted(found, key=lambda report: report.at_us)


def _read(line: str, path: Path) -> Report | None:
    if "dual-" not in line:
        return None
    try:
        message: Any = json.loads(line)
    except ValueError:
        return None
    message = message.get("said", message) if isinstance(message, dict) else None
    if not isinstance(message, dict):
        return None
    fields = dict(message)
    kind = _KINDS.get(str(fields.pop("event", "")))
    if kind is None:
        return None
    try:
        return kind.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise StreamgaugeError(
            f"{path} has a report `{kind.event}` that cannot be understood (`{where}`)",
            fix="it is damaged or of another version of streamgauge; run it again",
        ) from error


class History:
    """Answers questions about the reports of one runtime."""

    def __init__(self, reports: Iterable[Report]) -> None:
        self.reports = sorted(reports, key=lambda report: report.at_us)

    def __bool__(self) -> bool:
        return bool(self.operations)

    @cached_property
    def operations(self) -> list[str]:
        """In the order in which records flow through them."""
        found: dict[str, None] = {}
        for report in self.reports:
            if isinstance(report, Placed | Seen):
                for segment in report.segments:
                    found |= dict.fromkeys(segment.operations)
        for switch in self.switches:
            found |= dict.fromkeys(switch.operations)
        return list(found)

    @cached_property
    def switches(self) -> list[Switched]:
        return [report for report in self.reports if isinstance(report, Switched)]

    def bands(self, operation: str, from_us: int, to_us: int) -> list[Band]:
        """The paradigms of an operation between two times, without hole or overlap.

        A switch counts from the first result of the new run.
        """
        known = self._marks(operation)
        if not known or from_us >= to_us:
            return []
        marks = [*known[:1], *(mark for mark in known[1:] if mark[0] < to_us)]
        found: list[Band] = []
        starts = [from_us, *(max(at_us, from_us) for at_us, _ in marks[1:])]
        ends = [*starts[1:], to_us]
        for start, end, (_, paradigm) in zip(starts, ends, marks, strict=True):
            if start == end:
                continue
            if found and found[-1].paradigm is paradigm:
                start = found.pop().from_us
            found.append(Band(start, end, paradigm))
        return found

    def _marks(self, operation: str) -> list[tuple[int, Paradigm]]:
        """From when which paradigm; the first also counts for the time before it."""
        marks: list[tuple[int, Paradigm]] = []
        for report in self.reports:
            if isinstance(report, Switched) and operation in report.operations:
                if not marks:
                    marks.append((min(report.asked_us, report.at_us), report.paradigm.other))
                marks.append((report.at_us, report.paradigm))
            # What was seen says nothing that is not known, unless the beginning was not reported.
            elif isinstance(report, Placed) or (isinstance(report, Seen) and not marks):
                marks += [
                    (report.at_us, segment.paradigm)
                    for segment in report.segments
                    if operation in segment.operations
                ]
        return marks

    def seen(self, operation: str) -> Iterator[tuple[int, SegmentSeen]]:
        """The segment of an operation, each time that it was looked at."""
        for report in self.reports:
            if isinstance(report, Seen):
                for segment in report.segments:
                    if operation in segment.operations:
                        yield report.at_us, segment

    def last_seen(self, operation: str) -> SegmentSeen | None:
        return next((segment for _, segment in reversed([*self.seen(operation)])), None)

    def last_decided(self, operation: str) -> Decided | None:
        decided = (
            report
            for report in reversed(self.reports)
            if isinstance(report, Decided) and operation in report.operations
        )
        return next(decided, None)
