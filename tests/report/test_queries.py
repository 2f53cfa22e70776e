"""The report of a study over queries."""

from __future__ import annotations

from pathlib import Path

from .page import Page
from .studies import page_of, queries_study, stored


def page(tmp_path: Path) -> Page:
    summary = queries_study()
    return page_of(summary, stored(summary, tmp_path))


def rows(page: Page, label: str, count: int) -> list[list[str]]:
    """The cells of every table row that begins with a label and has so many of them."""
    found = [one.children for one in page.all("tr")]
    return [
        [cell.text for cell in cells[1:]]
        for cells in found
        if cells[0].text == label and len(cells) == count + 1
    ]


def cells(page: Page, query: str) -> list[list[str]]:
    """The rows of a query in the tables of the figure, one per rate."""
    return rows(page, query, 8)


def test_each_rate_has_a_table_with_the_published_systems_beside_ours(tmp_path: Path) -> None:
    found = page(tmp_path)
    slow, quick = cells(found, "espbench.q1")
    assert slow[:5] == ["1.42 s", "1.99 s", "✓ valid", "✓ yes", "✓ yes"]
    assert slow[5:] == ["4.27 s", "20 ms", "wrong results"]
    assert quick[5:] == ["5.77 s", "29 ms", "wrong results"]


def test_a_growing_latency_is_said_instead_of_a_mean(tmp_path: Path) -> None:
    slow, quick = cells(page(tmp_path), "espbench.q3")
    assert quick[0] == "growing"
    assert quick[3] == "✗ no, latency growing"
    assert slow[0] != "growing"


def test_the_set_up_is_beside_ours_and_the_limits_are_stated(tmp_path: Path) -> None:
    text = page(tmp_path).one("section", id="figure").text
    assert "PostgreSQL 9.6.12" in text
    assert "Xeon E5450" in text
    assert "latency includes the transfer through the broker" in text


def test_the_functions_that_each_query_tests_are_in_a_table(tmp_path: Path) -> None:
    found = page(tmp_path)
    assert rows(found, "query", 3) == [["windowing", "aggregation", "filter"]]
    assert rows(found, "espbench.q1", 3) == [["✓", "✓", ""]]
    assert rows(found, "espbench.q3", 3) == [["", "", "✓"]]
