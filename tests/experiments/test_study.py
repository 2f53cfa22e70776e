"""Studies: what is varied, what is searched, how long it takes; nothing is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.errors import ExperimentError
from streamgauge.experiments.planning.files import builtin_names, read_experiment
from streamgauge.experiments.planning.study import Study, make_study, plan_at, reference_key
from streamgauge.units import SECOND_US


def study(**changes: Any) -> Study:
    settings = [f"{key.replace('__', '.')}={value}" for key, value in changes.items()]
    return make_study(*read_experiment("quickstart", settings))


def test_one_trial_at_a_given_rate_is_no_study() -> None:
    assert study().is_single
    assert not study(repeat=2).is_single
    assert not study(load__rate="search").is_single
    assert not study(vary="{workload.window: [1 s]}").is_single


def test_a_varied_setting_that_is_set_varies_no_more() -> None:
    vary = "{load.rate: [10k, 20k], workload.window: [1 s, 2 s]}"
    assert [case.varied for case in study(vary=vary, load__rate="5k").cases] == [
        {"workload.window": "1 s"},
        {"workload.window": "2 s"},
    ]
    assert study(vary="{load.rate: [10k, 20k]}", load__rate="5k").is_single


def test_every_combination_is_a_case_and_the_rate_varies_fastest() -> None:
    found = study(vary="{load.rate: [10k, 20k], workload.window: [1 s, 2 s]}")
    assert [case.varied for case in found.cases] == [
        {"workload.window": "1 s", "load.rate": 10_000.0},
        {"workload.window": "1 s", "load.rate": 20_000.0},
        {"workload.window": "2 s", "load.rate": 10_000.0},
        {"workload.window": "2 s", "load.rate": 20_000.0},
    ]
    assert len(found.groups) == 2
    windows = [case.experiment.workload.parameters["window"] for case in found.cases]
    assert windows == ["1 s", "1 s", "2 s", "2 s"]
    assert [case.experiment.load.rate for case in found.cases] == [1e4, 2e4, 1e4, 2e4]


def test_also_adds_cases_with_the_settings_of_the_experiment() -> None:
    found = study(
        vary="{load.rate: [10k, 20k]}",
        also="[{workload.window: [2 s, 3 s]}, {load.instances: [1], load.rate: [5k]}]",
    )
    assert [tuple(case.varied.values()) for case in found.cases] == [
        ("1 s", 2, 10_000.0),
        ("1 s", 2, 20_000.0),
        ("2 s", 2, 50_000.0),
        ("3 s", 2, 50_000.0),
        ("1 s", 1, 5_000.0),
    ]
    assert [case.experiment.load.instances for case in found.cases] == [2, 2, 2, 2, 1]
    assert list(found.varied) == ["workload.window", "load.instances", "load.rate"]
    assert len(study(also="[{workload.window: [2 s]}]").cases) == 1


def test_cases_that_differ_only_in_their_rate_share_one_search() -> None:
    found = study(vary="{load.rate: [100 %, 90 %], workload.window: [1 s, 2 s]}")
    assert [group.searched for group in found.groups] == [True, True]
    assert [[case.share for case in group.cases] for group in found.groups] == [[1.0, 0.9]] * 2
    assert not any(group.searched for group in study(vary="{load.rate: [1k, 2k]}").groups)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"load__rate": "0"}, "load.rate"),
        ({"load__rate": "0 %"}, "load.rate"),
        ({"load__rate": "2000 %"}, "load.rate"),
        ({"load__rate": "many %"}, "load.rate"),
        ({"load__rate": "serach"}, "load.rate"),
        ({"vary": "{workload.window: []}"}, "vary"),
        ({"vary": "{vary: [1]}"}, "vary"),
        ({"also": "[{vary: [1]}]"}, "also"),
        ({"vary": "{load.rate: [1k]}", "also": "[{workload.slide: [1 s]}]"}, "also"),
        ({"vary": "{workload.windw: [1 s]}"}, "workload.windw"),
        ({"vary": "{system.master: [1]}"}, "system.master"),
        ({"vary": "{load.rate.more: [1]}"}, "vary.load.rate.more"),
        ({"repeat": "0"}, "repeat"),
        ({"search.precision": "0 %"}, "search.precision"),
        ({"search.precison": "5 %"}, "search.precison"),
        ({"figure": "{form: nothing}"}, "figure.form"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        study(**changes)
    assert caught.value.key == key


def test_a_case_that_is_wrong_is_found_before_anything_is_started() -> None:
    with pytest.raises(ExperimentError, match="window"):
        study(vary="{workload.window: [1 s, 2 s, nonsense]}")


def test_more_of_everything_takes_longer() -> None:
    once = study(vary="{workload.window: [1 s]}").estimated_us
    assert study(vary="{workload.window: [1 s, 2 s]}").estimated_us > once
    assert study(vary="{workload.window: [1 s]}", repeat=3).estimated_us > once
    assert study(load__rate="search").estimated_us > once


@pytest.mark.parametrize(
    ("settings", "warm_up_s"),
    [({}, 30), ({"system": "simulated"}, 0), ({"search.warm_up": "45 s"}, 45)],
)
def test_a_search_is_given_the_time_to_warm_up(settings: dict[str, Any], warm_up_s: int) -> None:
    warm = study(load__rate="search", **settings)
    cold = study(load__rate="search", **{**settings, "search.warm_up": "0 s"})
    assert warm.estimated_us - cold.estimated_us == warm_up_s * 1_000_000


@given(share=st.floats(0.01, 9.99))
def test_a_share_of_the_maximum_is_read_as_it_is_written(share: float) -> None:
    loaded, _ = read_experiment("quickstart", [f"load.rate={100 * share:g} %"])
    assert loaded.load.share_of_maximum == pytest.approx(share, rel=1e-5)


def test_a_plan_at_another_rate_and_length_keeps_the_rest(tmp_path: Path) -> None:
    loaded, _ = read_experiment("quickstart", ["load.rate=search"])
    plan = plan_at(loaded, tmp_path, 5_000.0, 2_000_000)
    assert plan.events == 10_000
    assert plan.query == plan_at(loaded, tmp_path).query


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", builtin_names())
def test_every_built_in_experiment_can_be_run(name: str, quick: bool) -> None:
    found = make_study(*read_experiment(name, quick=quick))
    assert found.experiment.name == name
    assert found.experiment.about
    if quick:
        assert found.estimated_us < 300e6


MISREAD = """\
from streamgauge.queries.gaming.aggregation import AggregationQuery


class Misread(AggregationQuery):
    @property
    def inputs(self):
        return self.gaming_streams("purchases", reads=("prize_cents",))
"""


def test_a_query_that_reads_a_column_the_stream_lacks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "misread.py").write_text(MISREAD)
    workload = f"workload={{query: {tmp_path / 'misread.py'}:Misread}}"
    with pytest.raises(ExperimentError, match="reads 'prize_cents', the stream has") as caught:
        make_study(*read_experiment("quickstart", [workload]))
    assert caught.value.key == "workload.query"
    assert "columns" in caught.value.fix


def test_only_near_a_maximum_the_backlog_of_a_start_is_forgiven() -> None:
    found = study(vary="{load.rate: [1000, 90 %, 100 %]}")
    (group,) = found.groups
    plans = [plan_at(case.experiment, found.base) for case in group.cases]
    assert [plan.policy.settles_us > 0 for plan in plans] == [False, True, True]
    # The probes of the search, too, though the first case has a rate of its own.
    assert plan_at(group.experiment, found.base, 5_000.0, SECOND_US).policy.settles_us > 0


def test_shares_may_be_of_the_maximum_of_one_system() -> None:
    found = study(
        vary="{system: [spark, simulated], load.rate: [10 %, 50 %]}",
        search="{of: {system: spark}, published: {gaming.aggregation: 76k}}",
    )
    own, other = found.groups
    assert own.reference is own
    assert other.reference is not other
    assert other.reference.experiment.system.name == "spark"
    assert other.reference.experiment.load.share_of_maximum == 1.0
    # One search serves both, and its time counts once.
    assert reference_key(own) == reference_key(other)
    assert [found.searches_for(one) for one in found.groups] == [True, False]
    apart = study(vary="{system: [spark, simulated], load.rate: [10 %, 50 %]}")
    assert [apart.searches_for(one) for one in apart.groups] == [True, True]
    assert found.estimated_us < apart.estimated_us


def test_the_maximum_is_of_the_other_settings_of_each_group() -> None:
    found = study(
        vary="{workload.window: [1 s, 2 s], system: [spark, simulated], load.rate: [10 %]}",
        search="{of: {system: spark}}",
    )
    assert [found.searches_for(one) for one in found.groups] == [True, False, True, False]
    windows = [one.reference.experiment.workload.parameters["window"] for one in found.groups]
    assert windows == ["1 s", "1 s", "2 s", "2 s"]


def test_a_system_of_shares_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ExperimentError, match="sprak"):
        study(load__rate="50 %", search="{of: {system: sprak}}")
