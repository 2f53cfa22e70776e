"""The plan of one trial: every name resolved, every parameter checked, nothing started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from streamgauge import plugins
from streamgauge.channels.base import Channel, Connector
from streamgauge.disturb.section import PlannedFault
from streamgauge.driver.config import Load, LoadConfig, PolicyConfig
from streamgauge.driver.observations import Basis
from streamgauge.errors import ExperimentError
from streamgauge.events.sources import Source
from streamgauge.experiments.planning.faults import planned_faults
from streamgauge.experiments.planning.loads import built, ends_at, load_of, policy_of
from streamgauge.experiments.planning.model import Experiment, Named
from streamgauge.experiments.planning.validation import explained, unknown_key, validated
from streamgauge.queries.base import OptionalService, Query
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.references import has_open_password
from streamgauge.systems.base import System

Part = TypeVar("Part", bound=BaseModel)


@dataclass(frozen=True)
class Plan:
    """One trial, resolved."""

    experiment: Experiment
    base: Path
    query: Query
    query_config: QueryConfig
    system: System
    load: LoadConfig
    built_load: Load
    """The same load with its schedules, built once."""
    policy: PolicyConfig
    channel: Channel
    connector: Connector
    """The system's end of the channel."""
    faults: tuple[PlannedFault, ...] = ()
    """In the order of time."""
    at_maximum: bool = False
    """Is the rate the maximum that a search has found, or more?"""

    @property
    def events(self) -> int:
        return self.built_load.total

    @property
    def stores_rows(self) -> bool:
        """Are the results rows of a table of a service?"""
        return self.query.stores_rows

    @property
    def stored(self) -> dict[str, Any]:
        """The experiment as a run directory keeps it."""
        return without_secrets(self.experiment, self.channel)


def make_plan(experiment: Experiment, base: Path) -> Plan:
    """Resolves every name and checks every parameter, so that a run cannot fail on them later."""
    query_config = QueryConfig(
        name=experiment.workload.query,
        parameters=experiment.workload.parameters,
        base=str(base),
        services=experiment.services,
    )
    query = _query(query_config)
    sources = _sources(query)
    experiment = _for_each_stream(experiment, len(sources))
    _check_services(query, experiment.services)
    system = _part("system", System, experiment.system, base)  # type: ignore[type-abstract]
    _require_capable(experiment, system, query)
    if query.output_mode not in system.output_modes:
        mode = {"output_mode": system.output_modes[0]}
        query_config, query = query_config.model_copy(update=mode), query.model_copy(update=mode)
    _require_restartable(experiment, system)
    channel = _part("channel", Channel, experiment.channel, base)  # type: ignore[type-abstract]
    channel = channel.resolved(base)
    connector = _connector(experiment, system, channel)
    _require_followed(experiment, query, connector)
    system = system.resolved(base, query, channel)
    load = load_of(experiment, sources, query.clocks, base)
    channel.check_streams(load.streams)
    if (end_us := ends_at(load)) is not None:
        experiment = experiment.model_copy(update={"duration": end_us})
        load = load_of(experiment, sources, query.clocks, base)
    if not channel.in_step:
        load = load.model_copy(update={"skew_us": experiment.load.max_lag})
    policy = policy_of(experiment, base)
    if channel.basis is Basis.FRONTIER:
        # Until the first results come, nobody can see what a system has processed.
        policy = policy.model_copy(update={"settles_us": experiment.warm_up_us})
    return Plan(
        experiment=experiment,
        base=base,
        query=query,
        query_config=query_config,
        system=system,
        load=load,
        built_load=built(load),
        policy=policy,
        channel=channel,
        connector=connector,
        faults=planned_faults(experiment, system, channel, connector, query),
    )


def _for_each_stream(experiment: Experiment, streams: int) -> Experiment:
    """With the rate and the driver instances of all streams together."""
    load = experiment.load
    if not load.per_stream or not isinstance(load.rate, float):
        return experiment
    whole = {"rate": load.rate * streams, "instances": load.instances * streams}
    return experiment.model_copy(
        update={"load": load.model_copy(update={**whole, "per_stream": False})}
    )


def without_secrets(experiment: Experiment, channel: Channel) -> dict[str, Any]:
    """The experiment as it may be stored and shown."""
    data = experiment.model_dump(mode="json", exclude={"quick"})
    for name in channel.secrets:
        data["channel"].pop(name, None)
    return data


def _require_capable(experiment: Experiment, system: System, query: Query) -> None:
    can = system.can_run(query)
    if not can:
        raise ExperimentError(
            "workload.query",
            f"`{experiment.system.name}` cannot run `{experiment.workload.query}` "
            f"({can.support.value}): {can.reason}",
            fix="choose another query or system; `streamgauge list systems` shows what fits",
        )


def _require_restartable(experiment: Experiment, system: System) -> None:
    can = system.powers.get("restart")
    if system.restart.when == "always" and can is not None and not can:
        raise ExperimentError(
            "system.restart",
            f"`{experiment.system.name}` cannot be restarted ({can.support.value}): {can.reason}",
            fix="leave it out",
        )


def _connector(experiment: Experiment, system: System, channel: Channel) -> Connector:
    """That of the system for the channel, or the channel's own for this kind of system."""
    name = experiment.channel.name
    found = system.connectors.get(name) or channel.connectors.get(system.kind)
    if found is None:
        raise ExperimentError(
            "channel.name",
            f"`{experiment.system.name}` has no connector for `{name}` (not yet)",
            fix="choose another channel or system; `streamgauge list systems` shows what fits",
        )
    return found


def _query(config: QueryConfig) -> Query:
    try:
        return build_query(config)
    except ValidationError as error:
        found = plugins.load("queries", config.name, key="workload.query", base=Path(config.base))
        raise explained(error, found, "workload") from None


def _check_services(query: Query, given: Mapping[str, str]) -> None:
    """The address of every service is given, or its kind can be started, and no other is given."""
    for name in given:
        if name not in query.services:
            raise unknown_key(f"services.{name}", name, list(query.services))
    for name, service in query.services.items():
        if name not in given and isinstance(service, OptionalService):
            continue
        if name not in given and service.kind is not None:
            plugins.load("services", service.kind, key=f"services.{name}")
            continue
        if has_open_password(given.get(name, "")):
            raise ExperimentError(
                f"services.{name}",
                "has a password, which would be stored with the run",
                fix="refer to it: `${env:NAME}` or `${file:PATH}` in its place",
            )
        if not given.get(name, "").strip():
            raise ExperimentError(
                f"services.{name}",
                "is missing: the query uses this service",
                fix=f"add its address: `services: {{{name}: host:port}}`",
            )
        if isinstance(service, OptionalService):
            service.check(given[name])


def _require_followed(experiment: Experiment, query: Query, connector: Connector) -> None:
    """A mirror of the results is filled from where the system has put them."""
    if query.mirrored_in and not connector.follows_results:
        raise ExperimentError(
            f"services.{query.mirrored_in}",
            f"is filled from a topic of results, and `{experiment.system.name}` has none with the "
            f"channel `{experiment.channel.name}`",
            fix="use a channel with topics (`channel: kafka`), or leave the service out",
        )


def _sources(query: Query) -> dict[str, Source]:
    try:
        sources = query.streams
    except ValidationError as error:
        cause = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        fix = "correct the columns that its inputs read"
        raise ExperimentError("workload.query", cause, fix=fix) from None
    for source in sources.values():
        # Opens a file of events, so that one that cannot be read is refused.
        _ = source.schema
    return sources


def _part(section: str, wanted: type[Part], named: Named, base: Path) -> Part:
    """The system or channel of that name, with its settings."""
    found = plugins.load(f"{section}s", named.name, key=f"{section}.name", base=base)
    if not (isinstance(found, type) and issubclass(found, wanted)):
        raise ExperimentError(f"{section}.name", f"`{named.name}` is not a {section}")
    return validated(found, named.parameters, section)
