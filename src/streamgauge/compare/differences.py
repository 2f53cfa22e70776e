"""Differences between two runs that may explain why their figures differ."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge import writing
from streamgauge.compare.measured import Subject
from streamgauge.measure.summary import Status, Summary, Verdict

_ABOUT_THE_RUN = ("name", "about", "repeat", "thresholds", "measure_master")
"""Parameters that do not affect what was measured."""
_NOT_MEASURED = ("timeouts.", "figure.", "vary.", "quick.")
_SYSTEM = "system."
_NAME = "system.name"
_PATHS = ("system.source", "system.sink")


def alarms(base: Subject, other: Subject) -> list[str]:
    """Why the figures of a side may not be believed at all."""
    ours, theirs = base.summary, other.summary
    if ours is None or theirs is None:
        return [
            _verdict_of(name, summary)
            for name, summary in (("base", ours), ("other", theirs))
            if summary is not None and summary.verdict is not Verdict.VALID
        ]
    found = []
    if ours.verdict is not theirs.verdict:
        found.append(
            f"the verdicts differ: base is {_shown(ours.verdict)}, "
            f"other is {_shown(theirs.verdict)}{_because(ours, theirs)}"
        )
    elif ours.verdict is not Verdict.VALID:
        found.append(f"both runs are {_shown(ours.verdict)}: their figures prove nothing")
    if ours.sustained != theirs.sustained:
        found.append(
            f"sustained differs: base {writing.answer(ours.sustained)}, "
            f"other {writing.answer(theirs.sustained)}"
        )
    for name, summary in (("base", ours), ("other", theirs)):
        if summary.status is not Status.FINISHED:
            found.append(f"the {name} {_ended(summary.status)}: only a part of it was measured")
    return found


def _verdict_of(name: str, summary: Summary) -> str:
    return f"the {name} is {_shown(summary.verdict)}: its figures prove nothing"


def _shown(verdict: Verdict) -> str:
    return f"{verdict.mark} {verdict.value.upper()}"


def _because(*runs: Summary) -> str:
    reasons = [one.reasons[0] for one in runs if one.verdict is not Verdict.VALID and one.reasons]
    return f" ({'; '.join(reasons)})" if reasons else ""


def _ended(status: Status) -> str:
    return "failed" if status is Status.FAILED else "was interrupted"


def warnings(base: Subject, other: Subject) -> list[str]:
    """Every difference of workload, load, versions and machine that is not a varied setting."""
    ours, theirs = base.summary, other.summary
    found = [
        f"the {name} is a quick run: its numbers are meaningless"
        for name, summary in (("base", ours), ("other", theirs))
        if summary is not None and summary.quick
    ]
    found += _growing(base, other)
    found += [*base.notes, *other.notes]
    if ours is None or theirs is None:
        return found
    if ours.run == theirs.run:
        found.append("base and other are the same run")
    parameters = _parameters(base, other)
    found += [
        _differs(key, *values) for key, values in parameters.items() if not key.startswith(_SYSTEM)
    ]
    found += [
        f"{_differs(key, *parameters[key])}; figures of different paths say little of the system"
        for key in _PATHS
        if key in parameters
    ]
    found += _input(ours, theirs, parameters)
    for title, left, right in (
        ("version of", ours.versions, theirs.versions),
        ("machine:", ours.machine, theirs.machine),
    ):
        found += [
            _differs(f"{title} {key}", *values) for key, values in _changed(left, right).items()
        ]
    return found


def _growing(base: Subject, other: Subject) -> list[str]:
    return [
        f"latency grew steadily in the {name}: it has no mean, and its quantiles depend on how "
        "long it ran"
        for name, subject in (("base", base), ("other", other))
        if any(case.growing for case in subject.cases)
    ]


def _input(ours: Summary, theirs: Summary, parameters: Mapping[str, object]) -> list[str]:
    """A different input, where no parameter explains it."""
    explained = any(key.startswith(("load.", "workload.", "duration")) for key in parameters)
    # Searches run at whatever rate they find, so their input is hardly ever the same.
    explained |= any(one.maximum_sustainable_per_s is not None for one in (ours, theirs))
    hashes = (ours.input_hash, theirs.input_hash)
    if explained or not all(hashes) or hashes[0] == hashes[1]:
        return []
    return [f"{_differs('input_hash', *hashes)}: a load was cut, or its events are others"]


def changed_settings(base: Subject, other: Subject) -> list[str]:
    """Settings of the system that differ: mostly what one wants to compare.

    Of two different systems only the settings that both have are listed.
    """
    found = {
        key: values
        for key, values in _parameters(base, other).items()
        if key.startswith(_SYSTEM) and key not in _PATHS
    }
    return [
        _differs(key, *values)
        for key, values in found.items()
        if _NAME not in found or None not in values
    ]


def _parameters(base: Subject, other: Subject) -> dict[str, tuple[object, object]]:
    if base.summary is None or other.summary is None:
        return {}
    one_each = len(base.cases) == len(other.cases) == 1
    # Two runs of one case each are compared although they differ in it, so that is listed.
    varied = set() if one_each else base.varied_keys | other.varied_keys
    return {
        key: values
        for key, values in _changed(base.summary.parameters, other.summary.parameters).items()
        if key not in varied and key not in _ABOUT_THE_RUN and not key.startswith(_NOT_MEASURED)
    }


def _changed(
    base: Mapping[str, object], other: Mapping[str, object]
) -> dict[str, tuple[object, object]]:
    keys = [*base, *(key for key in other if key not in base)]
    return {key: (base.get(key), other.get(key)) for key in keys if base.get(key) != other.get(key)}


def _differs(what: str, base: object, other: object) -> str:
    return f"{what} differs: {_text(base)} → {_text(other)}"


def _text(value: object) -> str:
    return "nothing" if value is None or value == "" else str(value)
