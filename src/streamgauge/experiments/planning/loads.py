"""The load of an experiment: which stream has which rate and schedule, and who feeds it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path

from streamgauge import plugins
from streamgauge.driver.config import (
    FeedConfig,
    Load,
    LoadConfig,
    ScheduleConfig,
    StreamConfig,
    in_turn,
)
from streamgauge.errors import ExperimentError
from streamgauge.events.sources import Source
from streamgauge.experiments.planning.arguments import arguments_of
from streamgauge.experiments.planning.model import Experiment, Named
from streamgauge.experiments.planning.validation import unknown_key

ROUNDING = 1e-9
"""Rates that add up to the rate of the load may differ from it by this share."""


def load_of(experiment: Experiment, sources: Mapping[str, Source], base: Path) -> LoadConfig:
    """Streams without settings of their own share one schedule and its driver instances, which
    have the first numbers."""
    load = experiment.load
    for name in load.streams:
        if name not in sources:
            raise unknown_key(f"load.streams.{name}", name, list(sources))
    own = [name for name in sources if name in load.streams and load.streams[name].is_own]
    common = [name for name in sources if name not in own]
    if common and load.instances < len(common):
        raise ExperimentError(
            "load.instances",
            f"{load.instances} cannot feed {len(common)} streams ({', '.join(common)})",
            fix=f"use at least {len(common)}",
        )
    rates = _rates(experiment, own, common)
    streams: dict[str, StreamConfig] = {}
    feeds = list(in_turn(common, load.instances)) if common else []
    if common:
        schedule = _schedule(experiment, load.schedule, rates[common[0]], load.seed, "load", base)
        streams = {name: StreamConfig(source=sources[name], schedule=schedule) for name in common}
    for place, name in enumerate(own):
        settings, section = load.streams[name], f"load.streams.{name}"
        # Another seed: two streams of random arrivals must not have theirs at the same times.
        seed = load.seed + 1 + place
        named = settings.schedule or load.schedule
        schedule = _schedule(experiment, named, rates[name], seed, section, base)
        streams[name] = StreamConfig(source=sources[name], schedule=schedule)
        parts = settings.instances or 1
        feeds += [FeedConfig(stream=name, part=part, parts=parts) for part in range(parts)]
    return LoadConfig(
        streams={name: streams[name] for name in sources},
        feeds=tuple(feeds),
        seed=load.seed,
        disorder_us=load.disorder,
    )


def built(config: LoadConfig) -> Load:
    """The load with its schedules; refused if a driver instance would send nothing."""
    load = config.build()
    for feed in load.feeds:
        if not feed.times.total:
            section = config.streams[feed.stream].schedule.section
            raise ExperimentError(
                f"{section}.rate", "is so low that an instance would send nothing", fix="raise it"
            )
    return load


def _rates(experiment: Experiment, own: list[str], common: list[str]) -> dict[str, float]:
    """Events per second of each stream with settings of its own, and of the common schedule."""
    load = experiment.load
    whole = load.rate_per_s
    if not own:
        return dict.fromkeys(common, whole)
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
    each = rest / max(1, sharing)
    return rates | dict.fromkeys(without, each) | dict.fromkeys(common, each * len(common))


def _schedule(
    experiment: Experiment, named: Named, rate_per_s: float, seed: int, section: str, base: Path
) -> ScheduleConfig:
    key = f"{section}.schedule"
    factory = plugins.load("schedules", named.name, key=f"{key}.name", base=base)
    parameters = arguments_of(factory, named, key, base)
    if "seed" in inspect.signature(factory).parameters:
        parameters = {"seed": seed, **parameters}
    return ScheduleConfig(
        name=named.name,
        duration_us=experiment.duration,
        rate_per_s=rate_per_s,
        parameters=parameters,
        base=base,
        section=section,
    )
