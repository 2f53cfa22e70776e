"""The section `faults` of an experiment file, and the moments that it stands for.

An entry has a time (`at`, `every` or `times`), one fault with its target (`kill: executor`), and
the settings of the fault. Moments and choices depend on the seed and the place of the entry only.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from streamgauge import plugins
from streamgauge.disturb.base import Fault
from streamgauge.errors import ExperimentError
from streamgauge.hints import did_you_mean
from streamgauge.units import DurationUs, WholeNumber, format_duration

GROUP = "faults"
MOST_FAULTS = 10_000


class FaultEntry(BaseModel):
    """One entry; the keys that are not declared are the fault, its target and its settings."""

    model_config = ConfigDict(extra="allow", frozen=True)

    at: DurationUs | None = Field(default=None, description="time of the load")
    every: DurationUs | None = Field(default=None, gt=0, description="again and again")
    times: WholeNumber | None = Field(
        default=None, ge=1, le=MOST_FAULTS, description="so many, at random moments"
    )
    after: DurationUs | None = Field(
        default=None, description="begin of `every` and `times`; default: one interval, and 0 s"
    )
    until: DurationUs | None = Field(
        default=None, description="end of `every` and `times`; default: that of the load"
    )

    @property
    def others(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class PlannedFault(NamedTuple):
    """A fault at a moment of the load."""

    at_us: int
    name: str
    """Its word in the file, such as `kill`."""
    target: str
    fault: Fault
    draw: int
    """Chooses one of several processes of the target."""

    @property
    def title(self) -> str:
        return f"{self.name} {self.target}"


class ParsedEntry(NamedTuple):
    """An entry whose fault and settings are known."""

    key: str
    """Its place in the file, such as `faults.2`."""
    when: FaultEntry
    name: str
    targets: tuple[str, ...]
    fault: Fault


def parsed(entries: Sequence[FaultEntry]) -> list[ParsedEntry]:
    """Every entry with its fault; ExperimentError: one of them is wrong."""
    return [_parsed(entry, f"{GROUP}.{place}") for place, entry in enumerate(entries)]


def _parsed(entry: FaultEntry, key: str) -> ParsedEntry:
    given = entry.others
    known = plugins.names(GROUP)
    words = [word for word in given if word in known or ":" in word]
    if len(words) != 1:
        unknown = next((word for word in given if word not in known), "")
        fix = did_you_mean(
            unknown, known, f"add one of {', '.join(known)}, such as `kill: program`"
        )
        found = f"has {' and '.join(words)}" if words else "names no fault"
        problem = f"{found}; an entry is one fault with one target or a list of them"
        raise ExperimentError(key, problem, fix=fix)
    (name,) = words
    targets = given.pop(name)
    targets = targets if isinstance(targets, list) else [targets]
    if not targets or not all(isinstance(one, str) for one in targets):
        raise ExperimentError(
            f"{key}.{name}", f"{targets!r} is no target", fix=f"such as `{name}: program`"
        )
    if sum(one is not None for one in (entry.at, entry.every, entry.times)) != 1:
        problem = "must have one of `at`, `every` and `times`"
        raise ExperimentError(key, problem, fix="such as `at: 30 s`")
    if entry.at is not None and (entry.after is not None or entry.until is not None):
        word = "after" if entry.after is not None else "until"
        raise ExperimentError(f"{key}.{word}", "is for `every` and `times`", fix="leave it out")
    kind = plugins.load(GROUP, name, key=f"{key}.{name}")
    return ParsedEntry(key, entry, name, tuple(targets), _settled(kind, given, key))


def _settled(kind: type[Fault], given: dict[str, Any], key: str) -> Fault:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        details = error.errors()[0]
        word = str(details["loc"][0]) if details["loc"] else ""
        names = [field.alias or name for name, field in kind.model_fields.items()]
        path = f"{key}.{word}" if word else key
        if details["type"] == "extra_forbidden":
            others = f"known here: {', '.join(names)}" if names else "the fault has no settings"
            raise ExperimentError(
                path, "unknown key", fix=did_you_mean(word, names, others)
            ) from None
        if details["type"] == "missing":
            raise ExperimentError(path, "is missing", fix=f"add `{word}:`") from None
        problem = details["msg"].removeprefix("Value error, ")
        raise ExperimentError(path, problem, fix="correct it") from None


def planned(entries: Sequence[ParsedEntry], duration_us: int, seed: int) -> list[PlannedFault]:
    """Every fault of the load, in the order of time; each ends before the load does."""
    found = []
    for entry in entries:
        # The moments of an entry do not depend on the others.
        chance = random.Random(f"{seed} {entry.key}")
        for at_us in _moments(entry, duration_us, chance):
            target = chance.choice(entry.targets)
            draw = chance.randrange(1 << 30)
            found.append(PlannedFault(at_us, entry.name, target, entry.fault, draw))
    if len(found) > MOST_FAULTS:
        raise ExperimentError(GROUP, f"are {len(found):,}", fix=f"at most {MOST_FAULTS:,} are done")
    return sorted(found, key=lambda one: one.at_us)


def _moments(entry: ParsedEntry, duration_us: int, chance: random.Random) -> list[int]:
    when, length_us = entry.when, entry.fault.length_us
    latest_us = duration_us - length_us
    until_us = duration_us if when.until is None else when.until
    end = f"the end of the load, {format_duration(duration_us)}"
    if until_us > duration_us:
        raise ExperimentError(f"{entry.key}.until", f"is after {end}", fix="choose an earlier one")
    until_us = min(until_us, latest_us)
    if when.at is not None:
        _require_before(when.at, latest_us, f"{entry.key}.at", end, length_us)
        return [when.at]
    if when.every is not None:
        begin_us = when.every if when.after is None else when.after
        word = "every" if when.after is None else "after"
        _require_before(begin_us, until_us, f"{entry.key}.{word}", end, length_us)
        if (until_us - begin_us) / when.every > MOST_FAULTS:
            problem = f"makes more than {MOST_FAULTS:,} faults"
            raise ExperimentError(f"{entry.key}.every", problem, fix="choose a longer time")
        return list(range(begin_us, until_us, when.every))
    assert when.times is not None
    begin_us = when.after or 0
    _require_before(begin_us, until_us, f"{entry.key}.after", end, length_us)
    return sorted(
        begin_us + math.floor(chance.random() * (until_us - begin_us)) for _ in range(when.times)
    )


def _require_before(at_us: int, latest_us: int, key: str, end: str, length_us: int) -> None:
    if at_us < latest_us:
        return
    lasting = f", and the fault lasts {format_duration(length_us)}" if length_us else ""
    problem = f"{format_duration(at_us)} is not before {end}{lasting}"
    raise ExperimentError(key, problem, fix="choose an earlier time, or a longer `duration`")
