"""The top of the page: the run, its verdict, and the thresholds."""

from __future__ import annotations

from datetime import datetime

from streamgauge import writing
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import Status, Summary, ThresholdResult, TrialSummary, Verdict
from streamgauge.report import cells
from streamgauge.report.markup import Html, bullets, element, joined

_MEANINGS = {
    Verdict.VALID: "Every result was compared with the expected one and is right.",
    Verdict.INVALID: "The system's results are not the expected ones.",
    Verdict.UNKNOWN: "It is unknown whether the results are right.",
    Verdict.VOID: "The station itself failed, such as a late generator: the run shows "
    "nothing about the system.",
}
_STAMPS = {
    Status.INTERRUPTED: "interrupted: only what was measured until then is shown",
    Status.FAILED: "failed: a component died, only what was measured until then is shown",
}
_QUICK = "quick run: the numbers are meaningless for comparison"


def heading(summary: Summary) -> Html:
    """Name, purpose, run and time."""
    about = summary.parameters.get("about")
    started = summary.started_at
    return element(
        "header",
        element("p", "streamgauge", class_="mark-of-origin"),
        element("h1", summary.name),
        element("p", str(about), class_="purpose") if about else "",
        element(
            "p",
            element("span", "run ", element("code", summary.run)),
            joined(" · started ", element("time", _time_text(started), datetime=started))
            if started
            else "",
            class_="about",
        ),
    )


def banners(summary: Summary) -> Html:
    """Stamps for a run whose figures are not to be used as they are."""
    texts = [_STAMPS.get(summary.status, ""), _QUICK if summary.quick else "", *summary.warnings]
    return joined(*(element("p", text, class_="stamp", role="note") for text in texts if text))


def verdict(summary: Summary) -> Html:
    """The verdict, large, with its reasons; whether the rate was sustained."""
    value = summary.verdict
    return element(
        "section",
        element(
            "div",
            element(
                "p",
                element("span", value.mark, class_="mark", aria_hidden="true"),
                " ",
                element("span", value.value, id="verdict"),
                class_="word",
                title=FIGURES["verdict"].definition,
            ),
            element("p", _MEANINGS[value], class_="meaning"),
            bullets(summary.reasons, "reasons"),
        ),
        _sustained(summary),
        class_=f"verdict is-{value.value}",
        aria_label="verdict",
    )


def _sustained(summary: Summary) -> Html:
    answer = writing.answer(summary.sustained)
    reasons = [
        f"instance {one.instance} ({one.stream}): {one.unsustained_because}"
        for one in (summary.driver if isinstance(summary, TrialSummary) else ())
        if one.unsustained_because
    ]
    return element(
        "div",
        element("p", cells.heading(FIGURES["sustained"]), class_="small-label"),
        element("p", str(answer), class_=f"answer {answer.kind}", id="sustained"),
        bullets(reasons, "reasons"),
        class_="sustained",
    )


def thresholds(results: list[ThresholdResult]) -> Html:
    """Which of the experiment's thresholds held."""
    checks = [(one.passed, one.expression, cells.threshold_value(one)) for one in results]
    return cells.check_list("Thresholds", "thresholds", checks)


def _time_text(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return text
    return f"{moment:%Y-%m-%d %H:%M:%S %Z}".strip()
