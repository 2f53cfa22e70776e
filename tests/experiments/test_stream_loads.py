"""A load per stream, from the experiment file to the events of each driver instance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.cli.resolved import resolved
from streamgauge.driver.config import Load, ScheduleConfig
from streamgauge.driver.schedules import Schedule
from streamgauge.errors import ExperimentError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.plan import Plan, make_plan
from streamgauge.experiments.planning.study import make_study, plan_at

JOIN = {"workload": "{query: gaming.join}", "load.rate": 10_000, "duration": "10 s"}


def plan_of(**changes: Any) -> Plan:
    settings = {**JOIN, **{key.replace("__", "."): value for key, value in changes.items()}}
    given = [f"{key}={value}" for key, value in settings.items()]
    return make_plan(*read_experiment("quickstart", given))


def counts(load: Load, stream: str) -> int:
    return sum(load.feeds[number].times.total for number in load.instances_of(stream))


def test_without_settings_of_their_own_streams_share_schedule_and_instances() -> None:
    plan = plan_of(load__instances=3)
    assert [feed.stream for feed in plan.built_load.feeds] == ["purchases", "ads", "purchases"]
    assert [(feed.part, feed.parts) for feed in plan.load.feeds] == [(0, 3), (1, 3), (2, 3)]
    assert len(plan.built_load.schedules) == 1
    assert plan_of(load__instances=3, load__streams="{ads: {}}").load == plan.load
    # Golden: the events of earlier versions.
    prints = [f"{feed.events.fingerprint(0, 1_000):016x}" for feed in plan.built_load.feeds]
    assert prints == GOLDEN


GOLDEN = ["ffaeed5d873fcda6", "748d3b92046954e8", "f1b34f8767a30172"]


def test_a_stream_has_a_rate_a_schedule_and_instances_of_its_own() -> None:
    plan = plan_of(load__streams="{ads: {rate: 20 %, schedule: bursts, instances: 2}}")
    load = plan.built_load
    assert [feed.stream for feed in load.feeds] == ["purchases", "purchases", "ads", "ads"]
    assert counts(load, "purchases") == 80_000
    # Between bursts 2,000 per second, and three times as many in one second of ten.
    assert counts(load, "ads") == 2_000 * 9 + 6_000
    assert load.total == load.count_before(load.duration_us) == 80_000 + 24_000
    assert load.feeds[2].times.schedule is load.feeds[3].times.schedule
    assert [feed.events.instance for feed in load.feeds] == [0, 1, 2, 3]
    assert [(feed.events.part, feed.events.parts) for feed in load.feeds[2:]] == [(0, 2), (1, 2)]


@pytest.mark.parametrize(
    ("streams", "purchases", "ads"),
    [
        ("{ads: {rate: 1000}}", 90_000, 10_000),
        ("{ads: {schedule: constant}}", 50_000, 50_000),
        ("{ads: {instances: 3}, purchases: {rate: 70 %}}", 70_000, 30_000),
        ("{ads: {rate: 1 %}, purchases: {rate: 99 %}}", 99_000, 1_000),
    ],
)
def test_a_stream_without_a_rate_gets_an_equal_part_of_what_the_others_leave(
    streams: str, purchases: int, ads: int
) -> None:
    load = plan_of(load__streams=streams).built_load
    assert (counts(load, "purchases"), counts(load, "ads")) == (purchases, ads)


def test_a_plan_builds_each_schedule_once(monkeypatch: pytest.MonkeyPatch) -> None:
    build, built = ScheduleConfig.build, []

    def counted(config: ScheduleConfig) -> Schedule:
        built.append(config.section)
        return build(config)

    monkeypatch.setattr(ScheduleConfig, "build", counted)
    assert plan_of().events == 100_000
    assert built == ["load"]
    built.clear()
    assert plan_of(load__streams="{ads: {rate: 20 %}}").events == 100_000
    assert built == ["load", "load.streams.ads"]


def test_two_streams_of_random_arrivals_are_independent() -> None:
    own = "{ads: {rate: 50 %}, purchases: {rate: 50 %}}"
    load = plan_of(load__schedule="poisson", load__streams=own).built_load
    one, other = (feed.times.times_us(0, 1_000) for feed in load.feeds)
    assert not np.array_equal(one, other)


def test_a_search_scales_a_share() -> None:
    settings = ["workload.query=gaming.join", "load.rate=search"]
    streams = "load.streams={ads: {rate: 25 %}}"
    study = make_study(*read_experiment("quickstart", [*settings, streams]))
    for rate in (1_000.0, 8_000.0):
        load = plan_at(study.experiment, study.base, rate, 10_000_000).built_load
        assert counts(load, "ads") == rate * 2.5
    with pytest.raises(ExperimentError, match=r"load.streams.ads.rate: must be a share"):
        make_study(*read_experiment("quickstart", [*settings, "load.streams={ads: {rate: 100}}"]))


@pytest.mark.parametrize(
    ("streams", "key", "fix"),
    [
        ("{adds: {rate: 20 %}}", "load.streams.adds", "did you mean `ads`?"),
        ("{ads: {rat: 20 %}}", "load.streams.ads.rat", "did you mean `rate`?"),
        ("{ads: {speed: 20 %}}", "load.streams.ads.speed", "known here: rate, schedule, instances"),
        ("{ads: {rate: search}}", "load.streams.ads.rate", "load.rate"),
        ("{ads: {rate: -1}}", "load.streams.ads.rate", "load.rate"),
        ("{ads: {rate: 100 %}}", "load.streams.ads.rate", "lower it"),
        ("{ads: {rate: 20_000}}", "load.streams.ads.rate", "lower it"),
        ("{ads: {rate: 10 %}, purchases: {rate: 80 %}}", "load.streams", "add up"),
        ("{ads: {rate: 0.1, instances: 2}}", "load.streams.ads.rate", "raise it"),
        ("{ads: {instances: 0}}", "load.streams.ads.instances", "driver instances"),
        ("{ads: {schedule: burst}}", "load.streams.ads.schedule.name", "did you mean `bursts`?"),
        (
            "{ads: {schedule: {name: bursts, burst: -1}}}",
            "load.streams.ads.schedule.burst",
            "use a number",
        ),
        (
            "{ads: {schedule: {name: bursts, bust: 1}}}",
            "load.streams.ads.schedule.bust",
            "did you mean `burst`?",
        ),
    ],
)
def test_a_wrong_setting_of_a_stream_is_refused_by_its_key(
    streams: str, key: str, fix: str
) -> None:
    with pytest.raises(ExperimentError) as caught:
        plan_of(load__streams=streams)
    assert caught.value.key == key
    assert fix in caught.value.fix
    assert caught.value.cause.startswith(f"{key}: ")


def test_a_resolved_experiment_with_stream_loads_is_the_same_experiment(tmp_path: Path) -> None:
    import yaml

    streams = "load.streams={ads: {rate: 20 %, schedule: bursts}}"
    settings = ["workload.query=gaming.join", "load.rate=10_000", streams]
    study = make_study(*read_experiment("quickstart", settings))
    spelt_out = resolved(study)
    assert spelt_out["load"]["streams"]["ads"]["schedule"]["burst"] == 3.0
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(spelt_out))
    again = make_study(*read_experiment(str(tmp_path / "again.yaml")))
    assert again.first_plan.events == study.first_plan.events


ASKING = """\
import streamgauge
from pyspark.sql import functions as F

EVENTS = streamgauge.event_spec(sensor=streamgauge.Keys(size=10))


@streamgauge.query(events=EVENTS, keys=["sensor"], inputs={"geocoder": streamgauge.Service()})
def asking(events, *, geocoder, limit=5): ...
"""


def test_the_address_of_a_service_is_needed_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "asking.py").write_text(ASKING)
    workload = f"workload={{query: {tmp_path / 'asking.py'}:asking}}"

    def planned(*settings: str) -> Plan:
        return make_plan(*read_experiment("quickstart", [workload, *settings]))

    with pytest.raises(ExperimentError, match=r"services.geocoder: is missing") as caught:
        planned()
    assert "services: {geocoder: host:port}" in caught.value.fix
    with pytest.raises(ExperimentError, match=r"services.geocode: unknown key") as caught:
        planned("services={geocode: here:80}")
    assert caught.value.fix == "did you mean `geocoder`?"
    plan = planned("services.geocoder=here:80", "workload.limit=3")
    assert plan.query.fixed_inputs(lambda table: table) == {"geocoder": "here:80"}
    # A service is no parameter of the `workload` section.
    with pytest.raises(ExperimentError, match=r"workload.geocoder"):
        planned("services.geocoder=here:80", "workload.geocoder=there")
