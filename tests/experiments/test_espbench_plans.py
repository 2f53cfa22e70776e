"""What ESPBench asks of a channel and of a load, checked before anything starts."""

from __future__ import annotations

import pytest

from streamgauge.errors import ExperimentError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.plan import Plan, make_plan

SMALL = ["vary={}", "repeat=1", "workload.rows=1000", "workload.scale=1"]


def plan(*settings: str, experiment: str = "espbench") -> Plan:
    small = SMALL if experiment == "espbench" else []
    return make_plan(*read_experiment(experiment, [*small, *settings]))


@pytest.mark.parametrize(
    ("experiment", "setting", "key"),
    [
        ("espbench", "channel={name: direct}", "channel.name"),
        ("espbench", "channel.timestamps=CreateTime", "channel.timestamps"),
        ("quickstart-kafka", "channel={name: kafka, format: lines}", "channel.format"),
        ("espbench", "workload.sensors=no-such-file", "workload.sensors"),
    ],
)
def test_what_does_not_fit_is_refused(experiment: str, setting: str, key: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        plan(setting, experiment=experiment)
    assert caught.value.key == key


def test_the_rate_and_the_senders_are_those_of_each_topic() -> None:
    both = plan("workload.query=espbench.q4", "load.rate=500").load
    assert both.rate_per_s == 1_000
    assert [len(both.instances_of(stream)) for stream in both.streams] == [1, 1]
    assert plan("workload.query=espbench.q3", "load.rate=500").load.rate_per_s == 500


def test_the_load_ends_with_the_production_times() -> None:
    source = plan("workload.query=espbench.q5").query.streams["production"]
    assert source.length is not None
    long = plan("workload.query=espbench.q5", "load.rate=10000", "duration=600s")
    assert long.experiment.duration == pytest.approx(source.length / 10_000 * 1e6, rel=1e-3)
    assert long.events <= source.length
    assert plan("workload.query=espbench.q5", "duration=60s").experiment.duration == 60_000_000
