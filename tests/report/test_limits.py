from __future__ import annotations

import pytest

from streamgauge.measure.limits import SELF_REPORTED
from streamgauge.measure.summary import Limit, TrialSummary, Verdict
from streamgauge.report.limits import limits
from streamgauge.systems.spark.advice import spark_limits
from tests.systems.spark_evidence import CASES, spark_evidence

from . import samples
from .page import Page

HOSTILE = "</script><b id='evil'>&\"'<!--"
CPU = Limit(
    kind="CPU",
    shown_by="the system used 1.92 of its 2 cores (96 %)",
    advice="Give it more: `--set 'system.master=local[4]'`. Or less.",
    strength=0.96,
)
STATE = Limit(
    kind="state",
    shown_by=f"keeping state takes 210 ms of 620 ms ({SELF_REPORTED})",
    advice="`--set system.state_store=memory`",
    strength=0.34,
    self_reported=True,
)
NOTHING = Limit(
    kind="none",
    label="nothing",
    meaning="It kept up.",
    shown_by="not limited",
    advice="Offer more.",
    strength=0.65,
)


def summary_of(*found: Limit, sustained: bool | None = False) -> TrialSummary:
    return samples.summary().model_copy(update={"limits": list(found), "sustained": sustained})


def page_of(*found: Limit, sustained: bool | None = False) -> Page:
    return Page(limits(summary_of(*found, sustained=sustained)))


def test_each_limit_is_a_row_in_the_order_of_the_summary() -> None:
    page = page_of(CPU, STATE)
    assert page.one("h2").text == "What limited the run"
    assert [cell.text for cell in page.all("th", scope="row")] == ["CPU", "state"]
    shown, _ = page.all("p", class_="shown-by")
    assert shown.text == "The system used 1.92 of its 2 cores (96 %)."
    advice, _ = page.all("p", class_="advice")
    assert advice.text == "→ Give it more: --set 'system.master=local[4]'. Or less."
    assert [one.attributes["style"] for one in page.all("i", class_="fill")] == [
        "width:96.00%",
        "width:34.00%",
    ]


def test_the_setting_to_change_is_shown_as_code() -> None:
    assert [one.text for one in page_of(CPU, STATE).all("code")] == [
        "--set 'system.master=local[4]'",
        "--set system.state_store=memory",
    ]


def test_self_reported_figures_are_explained() -> None:
    def notes(page: Page) -> str:
        return " ".join(one.text for one in page.all("p", class_="note"))

    assert SELF_REPORTED in notes(page_of(CPU, STATE))
    assert "measured from outside" in notes(page_of(STATE))
    assert notes(page_of(CPU)) == ""


def test_the_limits_of_a_sustained_run_are_explained() -> None:
    assert "kept up" in page_of(STATE, sustained=True).one("section").text
    assert "kept up" not in page_of(STATE, sustained=False).one("section").text
    assert "kept up" not in page_of(STATE, sustained=None).one("section").text
    assert "higher rate" not in page_of(NOTHING, sustained=True).one("section").text


def test_what_is_no_limit_has_no_strength() -> None:
    page = page_of(NOTHING, sustained=True)
    assert page.one("th", scope="row").text == "nothing"
    assert page.all("i", class_="fill") == []


def test_without_limits_there_is_no_section() -> None:
    assert limits(summary_of()) == ""


def test_text_is_text_and_not_markup() -> None:
    hostile = Limit(
        kind=HOSTILE, shown_by=f"x{HOSTILE}", advice=f"{HOSTILE} `{HOSTILE}` {HOSTILE}", strength=2
    )
    page = page_of(hostile)
    assert page.all(id="evil") == []
    assert page.one("th", scope="row").text == HOSTILE
    assert page.one("p", class_="shown-by").text == f"X{HOSTILE}."
    assert page.one("p", class_="advice").text == f"→ {HOSTILE} {HOSTILE} {HOSTILE}"


def test_a_limit_is_shown_by_its_label_with_its_meaning() -> None:
    _, term = page_of(NOTHING).all("span", class_="term")
    assert (term.text, term.attributes["title"]) == ("nothing", "It kept up.")
    assert len(page_of(CPU).all("span", class_="term")) == 1


@pytest.mark.parametrize("case", CASES)
def test_every_limit_that_can_be_found_has_a_label_and_a_meaning(case: str) -> None:
    found = spark_limits(spark_evidence(**CASES[case][1]))
    page = page_of(*found)
    meanings = [one.attributes["title"] for one in page.all("span", class_="term")]
    assert len(meanings) == len(found) + 1
    assert all(meanings)
    assert "`" not in page.one("section").text


def test_nothing_is_said_about_a_system_in_a_void_run() -> None:
    void = summary_of(STATE, sustained=True).model_copy(update={"verdict": Verdict.VOID})
    assert "kept up" not in Page(limits(void)).one("section").text
