"""The load of an experiment: rate, schedule and driver instances of each stream, and the policy."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamgauge import plugins
from streamgauge.driver.config import (
    Clock,
    FeedConfig,
    LoadConfig,
    PolicyConfig,
    ScheduleConfig,
    StreamConfig,
    in_turn,
)
from streamgauge.driver.config import Load as BuiltLoad
from streamgauge.driver.policies import QueueMarks
from streamgauge.errors import ExperimentError
from streamgauge.events.sources import Source
from streamgauge.experiments.planning.model import Experiment, Load, Named
from streamgauge.experiments.planning.validation import unknown_key
from streamgauge.units import parse_duration_us

ROUNDING = 1e-9
"""Rates that add up to the rate of the load may differ from it by this share."""
GIVEN_BY_THE_LOAD = ("duration_us", "rate_per_s", "marks")
"""Arguments of schedules and policies that are not settings."""


def load_of(
    experiment: Experiment, sources: Mapping[str, Source], clocks: Mapping[str, Clock], base: Path
) -> LoadConfig:
    """Streams without settings of their own share one schedule and the first driver instances."""
    load = experiment.load
    for name in load.streams:
        if name not in sources:
            raise unknown_key(f"load.streams.{name}", name, list(sources))
    own = [name for name in sources if name in load.streams and load.streams[name].is_own]
    common = [name for name in sources if name not in own]
    if load.instances < len(common):
        raise ExperimentError(
            "load.instances",
            f"{load.instances} cannot feed {len(common)} streams ({', '.join(common)})",
            fix=f"use at least {len(common)}",
        )
    rates = _rates(load, own, common)
    schedules: dict[str, ScheduleConfig] = {}
    feeds: list[FeedConfig] = []
    if common:
        shared = _schedule(experiment, load.schedule, rates[common[0]], load.seed, "load", base)
        schedules = dict.fromkeys(common, shared)
        feeds += in_turn(common, load.instances)
    # Each has a seed of its own: the random arrivals of two streams must not coincide.
    for seed, name in enumerate(own, load.seed + 1):
        named = load.streams[name].schedule or load.schedule
        section = f"load.streams.{name}"
        schedules[name] = _schedule(experiment, named, rates[name], seed, section, base)
        parts = load.streams[name].instances or 1
        feeds += [FeedConfig(stream=name, part=part, parts=parts) for part in range(parts)]
    return LoadConfig(
        streams={
            name: StreamConfig(source=source, schedule=schedules[name], clock=clocks[name])
            for name, source in sources.items()
        },
        feeds=tuple(feeds),
        seed=load.seed,
        disorder_us=load.disorder,
    )


def ends_at(config: LoadConfig) -> int | None:
    """When the first stream has no more events, if that is before the end of the load."""
    ends = []
    for stream, settings in config.streams.items():
        length, feeds = settings.source.length, len(config.instances_of(stream))
        if length is None:
            continue
        times = config.build_feed(config.instances_of(stream)[0]).times
        if times.total * feeds > length:
            ends.append(times.time_us(length // feeds))
    return min(ends, default=None)


def built(config: LoadConfig) -> BuiltLoad:
    """The load with its schedules; refused if a driver instance would send nothing."""
    load = config.build()
    for feed in load.feeds:
        if not feed.times.total:
            key = f"{config.streams[feed.stream].schedule.section}.rate"
            problem = "is so low that a driver instance would send nothing"
            raise ExperimentError(key, problem, fix="raise it")
    return load


def policy_of(experiment: Experiment, base: Path) -> PolicyConfig:
    named = experiment.load.policy
    config = PolicyConfig(
        name=named.name,
        shares=experiment.load.marks,
        parameters=_arguments("policies", named, "load.policy", base),
        base=base,
    )
    try:
        config.build(QueueMarks.of(1_000_000, config.shares))
    except ExperimentError:
        raise
    except Exception as error:
        raise ExperimentError("load.policy", str(error) or type(error).__name__) from None
    return config


def _rates(load: Load, own: list[str], common: list[str]) -> dict[str, float]:
    """Events per second of each stream with settings of its own, and of the common schedule."""
    whole = load.rate_per_s
    given = {name: load.streams[name].rate_per_s(whole) for name in own}
    rates = {name: rate for name, rate in given.items() if rate is not None}
    rest = whole - sum(rates.values())
    without = [name for name in own if name not in rates]
    sharing = len(without) + len(common)
    if (sharing and rest <= ROUNDING * whole) or (not sharing and abs(rest) > ROUNDING * whole):
        key = f"load.streams.{next(iter(rates))}.rate" if len(rates) == 1 else "load.streams"
        raise ExperimentError(
            key,
            f"{whole - rest:,.10g} of the {whole:,.10g} events per second of `load.rate` are taken"
            + (", which leaves nothing for the other streams" if sharing else ""),
            fix="lower it" if sharing else "the rates of all streams must add up to `load.rate`",
        )
    # Exactly the rate of the load where no stream has another.
    each = rest / max(1, sharing)
    of_common = each * len(common) if own else whole
    return rates | dict.fromkeys(without, each) | dict.fromkeys(common, of_common)


def _schedule(
    experiment: Experiment, named: Named, rate_per_s: float, seed: int, section: str, base: Path
) -> ScheduleConfig:
    return ScheduleConfig(
        name=named.name,
        duration_us=experiment.duration,
        rate_per_s=rate_per_s,
        parameters=_arguments("schedules", named, f"{section}.schedule", base, seed=seed),
        base=base,
        section=section,
    )


def _arguments(group: str, named: Named, key: str, base: Path, **defaults: Any) -> dict[str, Any]:
    """By the names of the parameters; a setting for `…_us` is a duration without that ending."""
    factory = plugins.load(group, named.name, key=f"{key}.name", base=base)
    parameters = {
        parameter.name.removesuffix("_us"): parameter
        for parameter in inspect.signature(factory).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.name not in GIVEN_BY_THE_LOAD
    }
    given = {name: value for name, value in defaults.items() if name in parameters}
    given |= named.parameters
    for setting in given:
        if setting not in parameters:
            raise unknown_key(f"{key}.{setting}", setting, list(parameters))
    arguments: dict[str, Any] = {}
    for setting, parameter in parameters.items():
        if setting not in given:
            if parameter.default is parameter.empty:
                raise ExperimentError(f"{key}.{setting}", "is missing", fix=f"add `{setting}:`")
            continue
        value = given[setting]
        if parameter.name.endswith("_us"):
            try:
                value = parse_duration_us(value)
            except ValueError as error:
                raise ExperimentError(f"{key}.{setting}", str(error)) from None
        elif parameter.name == "path":
            value = str(base / str(value))
        arguments[parameter.name] = value
    return arguments
