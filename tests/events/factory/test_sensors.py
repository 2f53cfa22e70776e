"""Sensor records: form, statistics, purity; and what is refused in a file of the user's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamgauge.errors import ExperimentError
from streamgauge.events.factory.sensors import debs_lines, sensor_lines

RECORD = "\t".join(["2012-02-22T16:46:28.9670320+00:00", *(str(n) for n in range(55))])


def values(lines: list[str]) -> NDArray[np.int64]:
    """mf01, mf02 and mf03 of every record."""
    return np.array([[int(one) for one in line.split("\t")[2:5]] for line in lines])


def made(rows: int = 20_000, seed: int = 1, workplace: int = 1, **rates: float) -> list[str]:
    table = sensor_lines(seed=seed, rows=rows, workplace=workplace, **rates)
    lines: list[str] = table["line"].to_pylist()
    return lines


def test_a_record_has_the_form_of_debs_2012_and_ends_with_the_workplace() -> None:
    first, second = made(rows=2, workplace=2)
    fields = first.split("\t")
    assert len(fields) == 57
    assert fields[-1] == "2"
    assert [len(one) for one in fields[5:12]] == [4] * 7
    assert set(fields[12:56]) == {"0", "1"}
    assert fields[0].startswith("2012-02-22T12:00:00.00")
    assert len(fields[0]) == len("2012-02-22T16:46:28.9670320+00:00")
    assert second.split("\t")[0].startswith("2012-02-22T12:00:00.01")
    assert [fields[1], second.split("\t")[1]] == ["1", "2"]


def test_one_seed_gives_the_same_bytes_and_another_other_ones() -> None:
    text = "\n".join(made(rows=5_000))
    assert xxhash.xxh3_64_hexdigest(text.encode()) == "9e278af76d6fabe7"
    assert text == "\n".join(made(rows=5_000))
    assert text != "\n".join(made(rows=5_000, seed=2))
    assert values(made(rows=100)).tolist() != values(made(rows=100, workplace=2)).tolist()


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.integers(1, 20_000),
    st.floats(0, 0.25),
    st.floats(0, 1),
)
def test_the_rates_are_kept_for_any_seed(
    seed: int, rows: int, error_rate: float, low_power_rate: float
) -> None:
    found = values(made(rows, seed, error_rate=error_rate, low_power_rate=low_power_rate))
    errors, low_power = (found[:, 0] > 14_963).sum(), (found[:, 2] < 8_105).sum()
    # Two values that are the same to a 1024th may lie on the border.
    assert abs(errors - error_rate * rows) <= 2
    assert abs(low_power - low_power_rate * rows) <= 3 + rows / 1_000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_values_look_like_the_real_ones(seed: int) -> None:
    mf01, mf02, mf03 = values(made(rows=50_000, seed=seed)).T
    assert abs(mf01.mean() - 13_050) < 60
    assert abs(mf02.mean() - 14_380) < 60
    assert mf01.max() == 18_200
    assert ((mf01 >= 13_000) & (mf01 < 14_000)).mean() > 0.8
    assert ((mf02 >= 14_000) & (mf02 < 15_000)).mean() > 0.8
    assert ((mf03 >= 7_900) & (mf03 < 8_800)).mean() > 0.9
    assert 6_000 < np.ptp(mf01) < 8_000
    assert 6_000 < np.ptp(mf02) < 8_000
    assert 1_500 < np.ptp(mf03) <= 2_110
    assert 0.997 < np.corrcoef(mf01[1:], mf01[:-1])[0, 1] < 0.9995
    assert (mf01 > 14_963).mean() == 0.0042
    assert abs((mf03 < 8_105).mean() - 0.088) < 0.0005


def test_the_level_of_the_third_phase_follows_its_rate() -> None:
    """At the rate of the excerpt in circulation it has the mean of that excerpt."""
    mf03 = values(made(low_power_rate=0.65))[:, 2]
    assert abs(mf03.mean() - 8_090) < 30


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "end"])
def test_a_debs_file_is_read_with_any_line_end(tmp_path: Path, end: str, last: str) -> None:
    path = tmp_path / "debs.txt"
    path.write_bytes((end.join([RECORD, RECORD]) + (end if last else "")).encode())
    assert debs_lines(str(path), workplace=2)["line"].to_pylist() == [f"{RECORD}\t2"] * 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is empty"),
        (f"{RECORD}\n{RECORD}\t7\n", "line 2 has 57 values"),
        (f"{RECORD}\n\n{RECORD}\n", "line 2 has 1 values"),
        (f"{RECORD}\n" + RECORD.replace("\t1\t", "\tmf01\t", 1), "line 2 does not begin"),
        ("\xff", "line 1 has 1 values"),
    ],
)
def test_a_file_of_another_form_is_refused_by_line(
    tmp_path: Path, content: str, problem: str
) -> None:
    path = tmp_path / "debs.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ExperimentError, match=problem) as refused:
        debs_lines(str(path), workplace=1)
    assert "56 values" in refused.value.fix


def test_a_file_that_is_not_text_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("binary", "nothing"):
        with pytest.raises(ExperimentError, match="cannot be read"):
            debs_lines(str(tmp_path / name), workplace=1)


@pytest.mark.parametrize("wrong", [{"rows": 0}, {"error_rate": 0.9}, {"low_power_rate": -0.1}])
def test_impossible_parameters_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ExperimentError, match="no sensor records"):
        sensor_lines(**{"seed": 1, "rows": 10, "workplace": 1, **wrong})  # type: ignore[arg-type]
