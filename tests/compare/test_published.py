from __future__ import annotations

import re
from pathlib import Path

import pytest

from streamgauge.compare.comparison import Finding, compare
from streamgauge.compare.measured import run_subject
from streamgauge.compare.published import (
    addresses,
    figures_of,
    published_subject,
    published_table,
    published_tables,
    short_list,
)
from streamgauge.errors import UsageError
from streamgauge.measure.figures import FIGURES

from . import made_up


def values(table: str, system: str, setting: str) -> dict[str, float]:
    return {one.figure: one.value for one in published_table(table).at(system, setting)}


@pytest.mark.parametrize(
    ("table", "system", "setting", "expected"),
    [
        ("table-2", "spark", "2-nodes", {"maximum_sustainable_per_s": 379_000}),
        ("table-2", "flink", "8-nodes", {"maximum_sustainable_per_s": 1_260_000}),
        ("table-3", "spark", "8-nodes", {"maximum_sustainable_per_s": 947_000}),
        (
            "table-1",
            "flink-90",
            "4-nodes",
            {
                "event_time.mean": 250,
                "event_time.min": 4,
                "event_time.max": 5112,
                "event_time.p90": 601,
                "event_time.p95": 1334,
                "event_time.p99": 2430,
            },
        ),
        (
            "text",
            "spark",
            "event-and-system-time",
            {"event_time.mean": 3394, "processing_time.mean": 1040},
        ),
        ("text", "spark", "20-percent-above", {"drained_change_percent": -5}),
    ],
)
def test_the_figures_are_those_of_the_publication(
    table: str, system: str, setting: str, expected: dict[str, float]
) -> None:
    assert values(table, system, setting) == expected


def test_latencies_of_every_cell_are_in_order() -> None:
    order = ("min", "mean", "p90", "p95", "p99", "max")
    cells = 0
    for table in ("table-1", "table-4"):
        for system, setting in {(one.system, one.setting) for one in figures_of(table)}:
            cell = values(table, system, setting)
            found = [cell[f"event_time.{name}"] for name in order]
            assert found == sorted(found), (table, system, setting)
            cells += 1
    assert cells == 6 * 3 + 4 * 3


def test_at_ninety_per_cent_the_mean_is_lower() -> None:
    for table in ("table-1", "table-4"):
        means = {
            (one.system, one.setting): one.value
            for one in figures_of(table)
            if one.figure == "event_time.mean"
        }
        for (system, setting), mean in means.items():
            if system.endswith("-90"):
                assert mean < means[(system.removesuffix("-90"), setting)]


def test_figures_have_our_names() -> None:
    """Every other figure is derived from ours, by a rule of the publication."""
    for one in (one for table in published_tables().values() for one in table.figures):
        assert (one.figure in FIGURES) == (one.derived is None), one.figure
        if one.derived:
            formula = one.derived.ratio or one.derived.change_percent
            assert formula
            assert formula.figure in FIGURES


def test_every_table_is_there_with_its_source() -> None:
    tables = published_tables()
    of_espbench = ["espbench", "espbench-exact", "espbench-counts"]
    of_espbench += ["espbench-ingestion", "espbench-append-times"]
    of_do = ["dual-latency", "dual-components", "dual-throughput"]
    assert list(tables) == [
        *of_do,
        *of_espbench,
        "table-1",
        "table-2",
        "table-3",
        "table-4",
        "text",
    ]
    for name, table in tables.items():
        author = "Hesse" if name in of_espbench else "DO" if name in of_do else "Karimov"
        assert author in table.citation
    assert {one.label for one in tables["table-2"].at("spark", "2-nodes")} == {
        "Spark 2.0.1, 2 nodes"
    }


def test_notes_belong_to_their_figures() -> None:
    notes = {(one.system, one.setting): one.note for one in figures_of("table-2")}
    assert notes[("flink", "4-nodes")] == "network-bound"
    assert notes[("flink", "2-nodes")] == ""
    assert all("90, 95 and 99" in one.note for one in figures_of("table-4"))
    source = Path(published_subject.__code__.co_filename).parent / "published"
    written = [
        cell
        for file in source.iterdir()
        for cell in re.findall(r"^ {6}(?:- )?([\w-]+/[\w-]+)\b", file.read_text(), re.M)
    ]
    cells = {
        f"{one.system}/{one.setting}" for t in published_tables().values() for one in t.figures
    }
    assert written
    assert set(written) <= cells


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("table-2/spark/2-node", "published:table-2/spark/2-nodes"),
        ("published:table-1/flink90/4-nodes", "published:table-1/flink-90/4-nodes"),
        ("table-2", "published:table-2/storm/2-nodes"),
        ("table-3/flink/", "published:table-3/flink/2-nodes"),
    ],
)
def test_an_unknown_address_is_answered_with_the_nearest(wrong: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        published_subject(wrong)
    assert f"did you mean `{near}`?" in caught.value.fix
    assert "table-2/{storm,spark,flink}/{2-nodes,4-nodes,8-nodes}" in caught.value.fix


def test_what_has_none_of_our_figures_is_no_base() -> None:
    with pytest.raises(UsageError):
        published_subject("text/spark/20-percent-above")


def test_an_unknown_table_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        figures_of("tabel-2")
    assert caught.value.fix == "did you mean `table-2`?"


def test_every_address_can_be_a_base() -> None:
    for address in addresses():
        assert published_subject(f"published:{address}").cases[0].figures


def test_the_short_list_names_every_address() -> None:
    def spelled(line: str) -> list[str]:
        found = [""]
        for part in line.split("/"):
            words = part.strip("{}").split(",")
            found = [f"{before}/{word}" if before else word for before in found for word in words]
        return found

    assert sorted(one for line in short_list() for one in spelled(line)) == sorted(addresses())


def test_a_published_base_is_compared_by_what_was_published_and_nothing_else() -> None:
    base = published_subject("published:table-2/spark/2-nodes")
    comparison = compare(base, [run_subject(made_up.search(400_000, failed=420_000))])
    (case,) = comparison.pairs[0].cases
    (change,) = case.changes
    assert change.figure == "maximum_sustainable_per_s"
    assert change.finding is Finding.NOISE_UNKNOWN
    assert change.percent == pytest.approx(5.54, abs=0.01)
    assert comparison.base.published
    assert comparison.base.verdict is None


def test_the_latencies_of_espbench_are_in_milliseconds_and_say_which_grew() -> None:
    assert values("espbench", "flink", "q1-1000") == {
        "event_time.mean": 4_269,
        "event_time.min": 49,
        "event_time.max": 18_591,
        "event_time.p90": 10_659,
    }
    assert values("espbench-exact", "spark", "q3-10000")["event_time.p99"] == 4_734
    grew = {(one.system, one.setting) for one in figures_of("espbench") if one.growing}
    assert len(grew) == 13
    assert ("spark", "q4-10000") in grew
    assert ("spark", "q4-1000") not in grew


def test_the_exact_latencies_of_espbench_are_in_order() -> None:
    order = ("min", "p50", "p90", "p95", "p99", "max")
    for system, setting in {(one.system, one.setting) for one in figures_of("espbench-exact")}:
        cell = values("espbench-exact", system, setting)
        found = [cell[f"event_time.{name}"] for name in order]
        assert found == sorted(found), (system, setting)


def test_a_query_that_failed_has_a_note_instead_of_a_value() -> None:
    wrong = published_table("espbench").at("spark", "q1-10000")
    assert [(one.value, one.note) for one in wrong] == [(None, "wrong results")]
    assert "BEAM-1564" in published_table("espbench").at("spark", "q2-1000")[0].note
    assert "espbench/spark/q1-10000" not in addresses()
    assert "espbench-counts/spark/q1-1000" in addresses()
