"""Which case of one run belongs to which case of another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from streamgauge.compare.measured import MeasuredCase, Subject
from streamgauge.units import parse_count, parse_duration_us, parse_share

Varied = Mapping[str, object]


@dataclass
class Matched:
    """Cases of both, and those that stand alone."""

    both: list[tuple[Varied, MeasuredCase, MeasuredCase]] = field(default_factory=list)
    only_base: list[Varied] = field(default_factory=list)
    only_other: list[Varied] = field(default_factory=list)


def match(base: Subject, other: Subject) -> Matched:
    """Cases with the same values of whatever either of them varies.

    What one side varies the other may have set once: then its parameters tell. A published figure
    stands beside every case, and two runs of one case each are compared whatever they vary.
    """
    published = next((one for one in (base, other) if one.summary is None), None)
    if published is not None or len(base.cases) == len(other.cases) == 1:
        return Matched(
            [
                ({**ours.varied, **theirs.varied}, ours, theirs)
                for ours in base.cases
                for theirs in other.cases
            ]
        )
    keys = sorted(base.varied_keys | other.varied_keys)
    waiting = {_place(other, case, keys): case for case in other.cases}
    found = Matched()
    for ours in base.cases:
        theirs = waiting.pop(_place(base, ours, keys), None)
        if theirs is None:
            found.only_base.append(ours.varied)
        else:
            found.both.append(({**theirs.varied, **ours.varied}, ours, theirs))
    found.only_other = [case.varied for case in waiting.values()]
    return found


def _place(subject: Subject, case: MeasuredCase, keys: list[str]) -> tuple[object, ...]:
    parameters = subject.summary.parameters if subject.summary else {}
    return tuple(comparable(case.varied.get(key, parameters.get(key))) for key in keys)


def comparable(value: object) -> object:
    """A form that is equal for `1 s` and `1000 ms`, and for `100k` and 100000."""
    if isinstance(value, str):
        parsers: tuple[Callable[[object], float], ...] = (
            parse_count,
            parse_duration_us,
            parse_share,
        )
        for kind, parse in enumerate(parsers):
            try:
                return (kind, float(parse(value)))
            except ValueError:
                continue
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (0, float(value))
    return repr(value)
