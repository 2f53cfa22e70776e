"""The top of the page: the run, its outcome with the reasons, and the thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from streamgauge import writing
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.outcome import meaning_of, outcome_of
from streamgauge.measure.summary import Summary, ThresholdResult
from streamgauge.report import cells
from streamgauge.report.markup import EMPTY, Html, bullets, coded, element, joined
from streamgauge.report.setting import facts, what_runs

_MOST_REASONS = 20
_QUICK = "quick run: the numbers are meaningless for comparison"


def heading(summary: Summary) -> Html:
    """Name, what runs, purpose, run and time, and what it ran on."""
    about, what = summary.parameters.get("about"), what_runs(summary)
    started = summary.started_at
    return element(
        "header",
        element("p", "streamgauge", class_="mark-of-origin"),
        element("h1", summary.name, *((" ", element("span", what, class_="what")) if what else ())),
        element("p", str(about), class_="purpose") if about else "",
        element(
            "p",
            element("span", "run ", element("code", summary.run)),
            joined(" · started ", element("time", _time_text(started), datetime=started))
            if started
            else "",
            class_="about",
        ),
        *(
            element("p", element("strong", name), " ", text, class_="about")
            for name, text in facts(summary)
        ),
    )


def banners(summary: Summary) -> Html:
    """Stamps for a run whose figures are not to be used as they are."""
    texts = [_QUICK if summary.quick else "", *summary.warnings]
    return joined(
        *(element("p", coded(text), class_="stamp", role="note") for text in texts if text)
    )


def headline(summary: Summary) -> Html:
    """The outcome, large, and what it means."""
    outcome = outcome_of(summary)
    return element(
        "div",
        element(
            "p",
            element("span", outcome.mark, class_="mark", aria_hidden="true"),
            " ",
            element("span", outcome.value, id="outcome"),
            class_="word",
        ),
        element("p", meaning_of(summary), class_="meaning"),
        class_="outcome",
    )


def verdict(summary: Summary) -> Html:
    """The headline; below it, whether results are right and the rate was sustained, and why not."""
    value, answer = summary.verdict, writing.answer(summary.sustained)
    word, kind = f"{value.mark} {value.value}", cells.verdict_kind(value)
    return element(
        "section",
        headline(summary),
        _answer("verdict", "results", word, kind, summary.reasons),
        EMPTY
        if summary.without_system
        else _answer("sustained", "", str(answer), answer.kind, summary.unsustained_because),
        class_=f"verdict is-{outcome_of(summary).kind}",
        aria_label="verdict",
    )


def _answer(figure: str, label: str, text: str, kind: str, reasons: Sequence[str]) -> Html:
    more = len(reasons) - _MOST_REASONS
    shown = [*reasons[:_MOST_REASONS], *([f"{more} more, see summary.json"] if more > 0 else [])]
    return element(
        "div",
        element("p", cells.heading(FIGURES[figure], label), class_="small-label"),
        element("p", text, class_=f"answer {kind}", id=figure),
        bullets(shown, "reasons"),
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
