"""Recorded traces: the rates of a file, and the errors about a wrong one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from streamgauge.driver.schedules import Schedule
from streamgauge.driver.schedules.trace import trace
from streamgauge.errors import ExperimentError

SECOND_US = 1_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.csv"


def _load(path: Path, content: str, seconds: int = 5, scale: float = 1.0) -> Schedule:
    path.write_text(content, encoding="utf-8")
    return trace(duration_us=seconds * SECOND_US, rate_per_s=200.0, path=path, scale=scale)


def _per_second(schedule: Schedule) -> list[int]:
    edges = np.arange(0, schedule.duration_us + 1, SECOND_US)
    events: list[int] = np.diff(schedule.counts_before(edges)).tolist()
    return events


def test_a_rate_holds_from_its_time_on_and_the_last_until_the_end(path: Path) -> None:
    schedule = _load(path, "time_s,rate_per_s\n0,100\n1.5,0\n3,1e3\n")
    assert _per_second(schedule) == [100, 50, 0, 1_000, 1_000]


def test_factors_are_of_the_rate_of_the_load(path: Path) -> None:
    assert _per_second(_load(path, "time_s,factor\n0,0.5\n2,2\n", seconds=3)) == [100, 100, 400]


def test_a_trace_longer_than_the_load_is_cut(path: Path) -> None:
    schedule = _load(path, "time_s,rate_per_s\n0,100\n1,50\n7,10\n9,10\n", seconds=2)
    assert _per_second(schedule) == [100, 50]


def test_scale_multiplies_rates(path: Path) -> None:
    schedule = _load(path, "time_s,rate_per_s\n0,100\n1,50\n", seconds=2, scale=0.1)
    assert _per_second(schedule) == [10, 5]


def test_a_spreadsheet_file_with_mark_spaces_and_other_columns_is_read(path: Path) -> None:
    content = "\ufefftime_s,host, rate_per_s ,note\r\n0,a, 100,x\r\n\r\n1,b,50,y\r\n"
    assert _per_second(_load(path, content, seconds=2)) == [100, 50]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: the columns are missing"),
        ("\n\n", "line 1: the columns are missing"),
        ("\n\ntime_s,rate\n0,1\n", "line 3: the columns are time_s, rate"),
        ("time_s,rate_per_s\n0,1\u2028\n1,x\n", "line 3: rate_per_s is 'x'"),
        ("time_s,rate\n0,1\n", "line 1: the columns are time_s, rate"),
        ("rate_per_s\n1\n", "line 1: the columns are rate_per_s"),
        ("time_s,rate_per_s,factor\n0,1,1\n", "line 1: the columns are time_s, rate_per_s, factor"),
        ("time_s,rate_per_s\n", "no line below the header"),
        ("time_s,rate_per_s\n0,0\n1,0\n", "every rate is 0"),
        ("time_s,rate_per_s\n0,fast\n", "line 2: rate_per_s is 'fast', not a number"),
        ("time_s,rate_per_s\n0,1\n1\n", "line 3: rate_per_s is '', not a number"),
        ("time_s,rate_per_s\n0,1\n\nx,2\n", "line 4: time_s is 'x', not a number"),
        ("time_s,rate_per_s\n0,nan\n", "line 2: rate_per_s is nan"),
        ("time_s,rate_per_s\n0,1e999\n", "line 2: rate_per_s is 1e999"),
        ("time_s,rate_per_s\n0,-1\n", "line 2: rate_per_s is -1"),
        ("time_s,rate_per_s\n0,1\n1,1\n1,2\n", "line 4: time_s 1.0 does not come after"),
        ("time_s,rate_per_s\n0,1\n2,1\n1,2\n", "line 4: time_s 1.0 does not come after"),
        ("time_s,rate_per_s\n0,1\n1e-9,1\n", "line 3: time_s 1e-09 does not come after"),
        ("time_s,rate_per_s\n5,1\n", "line 2: the first time_s is 5.0, not 0"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(path: Path, content: str, message: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        _load(path, content)
    assert caught.value.key == "load.schedule.path"
    assert message in caught.value.cause
    assert str(path) in caught.value.cause
    assert caught.value.fix


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"time_s,rate_per_s\n\xff\xfe")
    for wrong in (tmp_path / "missing.csv", tmp_path, binary, "a\0b", "", None, 5):
        with pytest.raises(ExperimentError) as caught:
            trace(duration_us=SECOND_US, rate_per_s=1.0, path=wrong)  # type: ignore[arg-type]
        assert caught.value.key == "load.schedule.path"


def test_an_empty_path_is_called_no_path() -> None:
    with pytest.raises(ExperimentError, match="'' is not the path of a file"):
        trace(duration_us=SECOND_US, rate_per_s=1.0, path="")


@pytest.mark.parametrize("scale", [0, -1, float("nan"), "x"])
def test_a_wrong_scale_is_refused(path: Path, scale: float) -> None:
    with pytest.raises(ExperimentError) as caught:
        _load(path, "time_s,rate_per_s\n0,1\n", scale=scale)
    assert caught.value.key == "load.schedule.scale"


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(alphabet='0123456789.,-e_"\n\r\0 x\u2028', max_size=60))
@example('"')
@example('0,1\n"1,1')
@example("0," + "9" * 200_000)
def test_whatever_a_file_holds_the_error_names_the_key(path: Path, body: str) -> None:
    path.write_bytes(b"time_s,rate_per_s\n" + body.encode())
    assert _key_of_error(path) in (None, "load.schedule.path", "load.rate")


def _key_of_error(path: Path) -> str | None:
    try:
        trace(duration_us=SECOND_US, rate_per_s=1.0, path=path)
    except ExperimentError as error:
        return error.key
    return None
