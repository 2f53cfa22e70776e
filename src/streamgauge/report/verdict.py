"""The top of the page: what was run, its verdict, and which thresholds held."""

from __future__ import annotations

from datetime import datetime

from streamgauge import writing
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import Status, Summary, ThresholdResult, TrialSummary, Verdict
from streamgauge.report import cells
from streamgauge.report.markup import Html, element, joined

_MEANINGS = {
    Verdict.VALID: "Every result was compared with what it should be, and is right.",
    Verdict.INVALID: "The system's results are not what they should be.",
    Verdict.UNKNOWN: "It is unknown whether the results are right.",
    Verdict.VOID: "The station itself failed, such as a late generator: the run shows "
    "nothing about the system.",
}
_ENDINGS = {
    Status.INTERRUPTED: "interrupted: only what was measured until then is shown",
    Status.FAILED: "failed: a component died, only what was measured until then is shown",
}
_QUICK = "quick run: the numbers are meaningless for comparison"


def heading(summary: Summary) -> Html:
    """Name, purpose, run and time."""
    about = summary.parameters.get("about")
    facts = [element("span", "run ", element("code", summary.run))]
    if summary.started_at:
        facts.append(
            joined(
                (
                    "started ",
                    element("time", _moment(summary.started_at), datetime=summary.started_at),
                )
            )
        )
    return element(
        "header",
        element("p", "streamgauge", class_="mark-of-origin"),
        element("h1", summary.name),
        element("p", str(about), class_="purpose") if about else "",
        element("p", *_separated(facts), class_="about"),
    )


def banners(summary: Summary) -> Html:
    """Stamps for a run whose figures must not be taken at face value."""
    texts = [_ENDINGS[summary.status]] if summary.status in _ENDINGS else []
    if summary.quick:
        texts.append(_QUICK)
    return joined(element("p", text, class_="stamp", role="note") for text in texts)


def verdict(summary: Summary) -> Html:
    """The verdict, large, with its reasons; whether the rate was sustained."""
    value = summary.verdict
    reasons = [element("li", reason) for reason in summary.reasons]
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
            element("ul", *reasons, class_="reasons") if reasons else "",
        ),
        _sustained(summary),
        class_=f"verdict is-{value.value}",
        aria_label="verdict",
    )


def _sustained(summary: Summary) -> Html:
    answer = writing.answer(summary.sustained)
    because = [
        element("li", f"instance {one.instance} ({one.stream}): {one.unsustained_because}")
        for one in (summary.driver if isinstance(summary, TrialSummary) else ())
        if one.unsustained_because
    ]
    return element(
        "div",
        element("p", cells.heading(FIGURES["sustained"]), class_="small-label"),
        element("p", str(answer), class_=f"answer {answer.kind}", id="sustained"),
        element("ul", *because, class_="reasons") if because else "",
        class_="sustained",
    )


def thresholds(results: list[ThresholdResult]) -> Html:
    """Which of the experiment's thresholds held."""
    if not results:
        return Html("")
    items = [
        element(
            "li",
            element("span", "✓" if one.passed else "✗", class_="mark"),
            element("code", one.expression),
            element("span", cells.threshold_value(one), class_="value"),
            class_="good" if one.passed else "bad",
            title="this threshold held" if one.passed else "this threshold did not hold",
        )
        for one in results
    ]
    return element(
        "section", element("h2", "Thresholds"), element("ul", *items, class_="thresholds")
    )


def _moment(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return text
    return f"{moment:%Y-%m-%d %H:%M:%S %Z}".strip()


def _separated(parts: list[Html]) -> list[str]:
    return [piece for part in parts for piece in (" · ", part)][1:]
