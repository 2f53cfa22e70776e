"""Differences between two runs that may explain why their figures differ."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge import writing
from streamgauge.compare.measured import Subject
from streamgauge.measure.summary import Status, Summary, Verdict
from streamgauge.report.cases import setting_text

_ABOUT_THE_RUN = ("name", "about", "repeat", "thresholds", "measure_master")
"""Parameters that do not affect what was measured."""
_NOT_MEASURED = ("timeouts.", "figure.", "vary.", "quick.")
_SYSTEM = "system."
_NAME = "system.name"
_PATHS = ("system.source", "system.sink")


def alarms(base: Subject, other: Subject) -> list[str]:
    """Reasons why the figures of a side cannot be used at all."""
    runs = _runs(base, other)
    if len(runs) < 2:
        return [
            f"the {name} is {_shown(run.verdict)}: its figures prove nothing"
            for name, run in runs.items()
            if run.verdict is not Verdict.VALID
        ]
    ours, theirs = runs.values()
    found = []
    if ours.verdict is not theirs.verdict:
        bad = [run for run in (ours, theirs) if run.verdict is not Verdict.VALID and run.reasons]
        reasons = f" ({'; '.join(run.reasons[0] for run in bad)})" if bad else ""
        found.append(
            f"the verdicts differ: base is {_shown(ours.verdict)}, "
            f"other is {_shown(theirs.verdict)}{reasons}"
        )
    elif ours.verdict is not Verdict.VALID:
        found.append(f"both runs are {_shown(ours.verdict)}: their figures prove nothing")
    if ours.sustained != theirs.sustained:
        answers = [f"{name} {writing.answer(run.sustained)}" for name, run in runs.items()]
        found.append(f"sustained differs: {', '.join(answers)}")
    for name, run in runs.items():
        if run.status is not Status.FINISHED:
            ended = "failed" if run.status is Status.FAILED else "was interrupted"
            found.append(f"the {name} {ended}: only a part of it was measured")
    return found


def _runs(base: Subject, other: Subject) -> dict[str, Summary]:
    """The sides that are runs, and not publications."""
    sides = {"base": base.summary, "other": other.summary}
    return {name: summary for name, summary in sides.items() if summary is not None}


def _shown(verdict: Verdict) -> str:
    return f"{verdict.mark} {verdict.value.upper()}"


def warnings(base: Subject, other: Subject) -> list[str]:
    """Every difference of workload, load, versions and machine that is not a varied setting."""
    ours, theirs = base.summary, other.summary
    found = [
        f"the {name} is a quick run: its numbers are meaningless"
        for name, run in _runs(base, other).items()
        if run.quick
    ]
    found += [
        f"latency grew steadily in the {name}: it has no mean, and its quantiles depend on how "
        "long it ran"
        for name, subject in (("base", base), ("other", other))
        if any(case.growing for case in subject.cases)
    ]
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
        f"{_differs(key, *parameters[key])}; figures of different paths are hard to compare"
        for key in _PATHS
        if key in parameters
    ]
    found += _input(ours, theirs, parameters)
    for title, left, right in (
        ("version of", ours.versions, theirs.versions),
        ("machine:", ours.machine, theirs.machine),
    ):
        changed = _changed(left, right)
        found += [_differs(f"{title} {key}", *values) for key, values in changed.items()]
    return found


def _input(ours: Summary, theirs: Summary, parameters: Mapping[str, object]) -> list[str]:
    """A different input, where no parameter explains it."""
    explained = any(key.startswith(("load.", "workload.", "duration")) for key in parameters)
    # Searches run at the rate that they find, so their input is rarely the same.
    explained |= any(one.maximum_sustainable_per_s is not None for one in (ours, theirs))
    hashes = (ours.input_hash, theirs.input_hash)
    if explained or not all(hashes) or hashes[0] == hashes[1]:
        return []
    return [f"{_differs('input_hash', *hashes)}: a load was cut short, or its events differ"]


def changed_settings(base: Subject, other: Subject) -> list[str]:
    """Settings of the system that differ; of two systems only those that both have."""
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
    texts = ["nothing" if v in (None, "") else setting_text(v, what) for v in (base, other)]
    return f"{what} differs: {' → '.join(texts)}"
