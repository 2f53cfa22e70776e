"""The faults of an experiment: refused before anything starts if one of them cannot be done."""

from __future__ import annotations

from streamgauge import plugins
from streamgauge.channels.base import Channel, Connector
from streamgauge.disturb.section import ParsedEntry, PlannedFault, parsed, planned
from streamgauge.errors import ExperimentError
from streamgauge.experiments.planning.model import Experiment
from streamgauge.hints import did_you_mean
from streamgauge.processes.small_disks import why_no_small_disk
from streamgauge.processes.targets import Nature, Target
from streamgauge.queries.base import Query
from streamgauge.systems.base import System

CHECKPOINT, CHECKPOINT_DISK = "checkpoint", "checkpoint disk"
POWERS = (Nature.PROCESS,)
"""Targets to which a system must allow what is done."""


def planned_faults(
    experiment: Experiment, system: System, channel: Channel, connector: Connector, query: Query
) -> tuple[PlannedFault, ...]:
    """Every fault of the load; ExperimentError names the entry that is wrong."""
    entries = parsed(experiment.faults)
    targets = {
        **_checkpoint(system),
        **_services(experiment, query),
        **channel.targets,
        **system.targets(connector),
    }
    for entry in entries:
        _check(entry, targets, system)
    return tuple(planned(entries, experiment.duration, experiment.load.seed))


def _checkpoint(system: System) -> dict[str, Target]:
    can = system.powers.get("restart")
    none = "" if can else "the system has none that is known here"
    return {
        CHECKPOINT: Target(Nature.CHECKPOINT, none),
        CHECKPOINT_DISK: Target(Nature.DISK, none or why_no_small_disk()),
    }


def _services(experiment: Experiment, query: Query) -> dict[str, Target]:
    """Those that are started for the query, by their role."""
    found = {}
    for name, service in query.services.items():
        if service.kind is not None:
            role: str = plugins.load("services", service.kind, key="services").role
            given = f"`services.{name}` is not ours" if name in experiment.services else ""
            found[role] = Target(Nature.SERVICE, given)
    return found


def _check(entry: ParsedEntry, targets: dict[str, Target], system: System) -> None:
    key = f"{entry.key}.{entry.name}"
    fitting = [
        name
        for name, one in targets.items()
        if not one.why_not and one.nature in entry.fault.natures
    ]
    others = f"choose one of: {', '.join(fitting)}" if fitting else "leave this fault out"
    for name in entry.targets:
        target = targets.get(name)
        if target is None:
            fix = did_you_mean(name, fitting, others)
            raise ExperimentError(key, f"there is no `{name}` here", fix=fix)
        if target.why_not:
            raise ExperimentError(key, f"there is no `{name}` here: {target.why_not}", fix=others)
        if target.nature not in entry.fault.natures:
            problem = f"`{name}` is {target.nature.value}, which nobody can {entry.name}"
            raise ExperimentError(key, problem, fix=others)
        power = system.powers.get(entry.fault.power)
        if target.nature in POWERS and power is not None and not power:
            problem = f"the system does not allow it ({power.support.value}): {power.reason}"
            raise ExperimentError(key, problem, fix="choose another fault or system")
