"""Which case of one run belongs to which case of another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from streamgauge.compare.measured import MeasuredCase, Subject
from streamgauge.units import parse_count, parse_duration_us, parse_share

Varied = Mapping[str, object]
_PARSERS: tuple[Callable[[object], float], ...] = (parse_count, parse_duration_us, parse_share)


@dataclass
class Matched:
    """Cases of both sides, and cases of one side only."""

    both: list[tuple[Varied, MeasuredCase, MeasuredCase]] = field(default_factory=list)
    only_base: list[Varied] = field(default_factory=list)
    only_other: list[Varied] = field(default_factory=list)


def match(base: Subject, other: Subject) -> Matched:
    """Cases with the same values of all settings that either side varies.

    A setting that only one side varies is read from the parameters of the other. A published
    figure is compared with every case, and two runs of one case each are always compared.
    """
    published = base.summary is None or other.summary is None
    if published or len(base.cases) == len(other.cases) == 1:
        pairs = [(ours, theirs) for ours in base.cases for theirs in other.cases]
        return Matched([({**ours.varied, **theirs.varied}, ours, theirs) for ours, theirs in pairs])
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
        for kind, parse in enumerate(_PARSERS):
            try:
                return (kind, float(parse(value)))
            except ValueError:
                continue
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (0, float(value))
    return repr(value)
