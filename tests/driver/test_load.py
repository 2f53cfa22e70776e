"""A load of streams with schedules of their own, and the even load of a rehearsal."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.driver.config import FeedConfig, LoadConfig, ScheduleConfig, StreamConfig
from streamgauge.driver.instance import DriverInstance
from streamgauge.driver.schedules import Schedule
from streamgauge.events.gaming import GamingDataSet
from tests.loads import instance_of, load_of

SOURCES = GamingDataSet.of(keys=20, streams=("purchases", "ads")).streams


def schedule(rate_per_s: float, section: str = "load") -> ScheduleConfig:
    return ScheduleConfig(duration_us=4_000_000, rate_per_s=rate_per_s, section=section)


def two_loads(purchases_per_s: float, ads_per_s: float) -> LoadConfig:
    rates = {"purchases": purchases_per_s, "ads": ads_per_s}
    return LoadConfig(
        streams={
            name: StreamConfig(source=SOURCES[name], schedule=schedule(rate, name))
            for name, rate in rates.items()
        },
        feeds=(
            FeedConfig(stream="ads", part=0, parts=1),
            FeedConfig(stream="purchases", part=0, parts=2),
            FeedConfig(stream="purchases", part=1, parts=2),
        ),
        seed=1,
    )


def test_every_event_of_every_schedule_is_offered_by_one_instance() -> None:
    load = two_loads(900, 300).build()
    assert [feed.times.total for feed in load.feeds] == [1_200, 1_800, 1_800]
    assert load.total == 4_800
    for time_us in (0, 1, 1_234_567, 4_000_000):
        counted = [feed.times.count_before(time_us) for feed in load.feeds]
        assert load.count_before(time_us) == sum(counted)
    assert load.instances_of("purchases") == [1, 2]
    assert load.config.rate_per_s == pytest.approx(1_200)


def test_a_rehearsal_has_even_rates_in_the_same_proportion_and_no_more_than_allowed() -> None:
    rehearsal = two_loads(900_000, 300_000).evenly(2_000_000, 120_000).build()
    assert [feed.times.total for feed in rehearsal.feeds] == [60_000, 90_000, 90_000]
    assert rehearsal.duration_us == 2_000_000
    slow = load_of(rate_per_s=50, instances=2, schedule="bursts").evenly(1_000_000, 200_000)
    assert slow.build().total == 50
    # An instance without an event would hold up the others.
    slowest = load_of(rate_per_s=0.5, seconds=10, instances=4).evenly(1_000_000, 200_000)
    assert [feed.times.total for feed in slowest.build().feeds] == [1, 1, 1, 1]


def test_a_driver_instance_builds_only_the_schedule_of_its_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = two_loads(900, 300)
    feeds = load.build().feeds
    build, built = ScheduleConfig.build, []

    def counted(config: ScheduleConfig) -> Schedule:
        built.append(config.section)
        return build(config)

    monkeypatch.setattr(ScheduleConfig, "build", counted)
    for number in range(3):
        instance = DriverInstance(instance_of(load, number, tmp_path), lambda *_, **__: None)
        assert instance.stream == feeds[number].stream
        assert instance.events.fingerprint(0, 500) == feeds[number].events.fingerprint(0, 500)
    assert built == ["ads", "purchases", "purchases"]


def test_a_load_is_the_same_in_another_process() -> None:
    load = two_loads(900, 300)
    again = LoadConfig.model_validate_json(load.model_dump_json())
    assert again == load
    prints = [
        [feed.events.fingerprint(0, 500) for feed in one.build().feeds] for one in (load, again)
    ]
    assert prints[0] == prints[1]
