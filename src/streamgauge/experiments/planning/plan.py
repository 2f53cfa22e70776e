"""From an experiment to what is going to happen: everything resolved, nothing started."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from streamgauge import plugins
from streamgauge.channels.direct.security import Listen
from streamgauge.driver.config import LoadConfig, PolicyConfig, ScheduleConfig
from streamgauge.driver.policies import QueueMarks
from streamgauge.errors import ExperimentError
from streamgauge.events.spec import StreamSpec
from streamgauge.experiments.planning.model import Experiment, Named
from streamgauge.experiments.planning.validation import explained, unknown_key, validated
from streamgauge.queries.base import Query
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.systems.base import System
from streamgauge.units import SECOND_US, parse_duration_us

START_ESTIMATE_US = 25 * SECOND_US
MEASURE_ESTIMATE_US = 15 * SECOND_US
MEASURE_SHARE = 0.1
"""Of the load's time, for making its events again and comparing."""


@dataclass(frozen=True)
class Plan:
    """One trial, resolved."""

    experiment: Experiment
    base: Path
    query: Query
    query_config: QueryConfig
    system: System
    load: LoadConfig
    policy: PolicyConfig
    listen: Listen
    at_maximum: bool = False
    """Is this, as far as a search can tell, all that the system sustains, or more?"""

    @property
    def estimated_us(self) -> int:
        """How long the whole run will take, roughly."""
        work = round(self.experiment.duration * (1 + MEASURE_SHARE))
        return START_ESTIMATE_US + work + MEASURE_ESTIMATE_US

    @property
    def events(self) -> int:
        return self.load.schedule.build().total


def make_plan(experiment: Experiment, base: Path) -> Plan:
    """Resolves every name and checks every parameter, so that a run cannot fail on them later."""
    query_config = QueryConfig(
        name=experiment.workload.query,
        parameters=experiment.workload.parameters,
        base=str(base),
    )
    query = _query(query_config)
    streams = _streams(query)
    if experiment.load.instances < len(streams):
        raise ExperimentError(
            "load.instances",
            f"{experiment.load.instances} cannot feed {len(streams)} streams "
            f"({', '.join(streams)})",
            fix=f"use at least {len(streams)}",
        )
    load = LoadConfig(
        streams=streams,
        schedule=_schedule(experiment, base),
        instances=experiment.load.instances,
        seed=experiment.load.seed,
        disorder_us=experiment.load.disorder,
    )
    if load.schedule.build().total < load.instances:
        raise ExperimentError(
            "load.rate", "is so low that an instance would send nothing", fix="raise it"
        )
    channel = experiment.channel
    system = _system(experiment.system, base)
    system.check(query_config.name, query)
    return Plan(
        experiment=experiment,
        base=base,
        query=query,
        query_config=query_config,
        system=system,
        load=load,
        policy=_policy(experiment, base),
        listen=Listen.checked(
            channel.listen,
            base / channel.certificate if channel.certificate else None,
            base / channel.private_key if channel.private_key else None,
            channel.token,
        ),
    )


def _query(config: QueryConfig) -> Query:
    try:
        return build_query(config)
    except ValidationError as error:
        found = plugins.load("queries", config.name, key="workload.query", base=Path(config.base))
        raise explained(error, found, "workload") from None


def _streams(query: Query) -> dict[str, StreamSpec]:
    try:
        return query.streams
    except ValidationError as error:
        cause = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise ExperimentError("workload.query", cause, fix="correct its `reads`") from None


def _system(named: Named, base: Path) -> System:
    found = plugins.load("systems", named.name, key="system.name", base=base)
    if not (isinstance(found, type) and issubclass(found, System)):
        raise ExperimentError("system.name", f"`{named.name}` is not a system")
    return validated(found, named.parameters, "system")


def _schedule(experiment: Experiment, base: Path) -> ScheduleConfig:
    named = experiment.load.schedule
    factory = plugins.load("schedules", named.name, key="load.schedule.name", base=base)
    config = ScheduleConfig(
        name=named.name,
        duration_us=experiment.duration,
        rate_per_s=experiment.load.rate_per_s,
        parameters=_arguments(factory, named, "load.schedule", base),
        base=base,
    )
    if "seed" in inspect.signature(factory).parameters:
        seeded = {"seed": experiment.load.seed, **config.parameters}
        config = config.model_copy(update={"parameters": seeded})
    _built(config.build, "load.schedule")
    return config


def _policy(experiment: Experiment, base: Path) -> PolicyConfig:
    named = experiment.load.policy
    factory = plugins.load("policies", named.name, key="load.policy.name", base=base)
    config = PolicyConfig(
        name=named.name,
        shares=experiment.load.marks,
        parameters=_arguments(factory, named, "load.policy", base),
        base=base,
    )
    _built(lambda: config.build(QueueMarks.of(1_000_000, config.shares)), "load.policy")
    return config


def _built(build: Callable[[], object], key: str) -> None:
    try:
        build()
    except ExperimentError:
        raise
    except Exception as error:
        raise ExperimentError(key, str(error) or type(error).__name__) from None


GIVEN_BY_THE_LOAD = ("duration_us", "rate_per_s", "marks")
"""Arguments of schedules and policies that are no parameters of theirs."""


def _arguments(factory: Any, named: Named, key: str, base: Path) -> dict[str, Any]:
    """Parameters by the names of the factory; one that ends in `_us` is written as a duration."""
    wanted = [
        name
        for name, parameter in inspect.signature(factory).parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD and name not in GIVEN_BY_THE_LOAD
    ]
    by_word = {name.removesuffix("_us"): name for name in wanted}
    arguments: dict[str, Any] = {}
    for word, value in named.parameters.items():
        if word not in by_word:
            raise unknown_key(f"{key}.{word}", word, list(by_word))
        name = by_word[word]
        if name.endswith("_us"):
            try:
                value = parse_duration_us(value)
            except ValueError as error:
                raise ExperimentError(f"{key}.{word}", str(error)) from None
        elif name == "path":
            value = str(base / str(value))
        arguments[name] = value
    for word, name in by_word.items():
        required = inspect.signature(factory).parameters[name].default is inspect.Parameter.empty
        if required and name not in arguments:
            raise ExperimentError(f"{key}.{word}", "is missing", fix=f"add `{word}:`")
    return arguments
