"""A result and a running experiment as a notebook shows them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from streamgauge.experiments.running.log import Event, Finished, Progress, RunStarted
from streamgauge.measure.outcome import meaning_of, outcome_of
from streamgauge.measure.summary import Series, StudySummary, Summary
from streamgauge.report.html import excerpt
from streamgauge.report.study import study_excerpt

_EVERY_S = 1.0
_COLOURS = {"good": "#17723f", "bad": "#b3261e", "open": "#8f5f00", "void": "#6b3fa0"}
"""Of the headline, which is outside the page and has no styles of its own."""
_FIT = "this.style.height = this.contentDocument.documentElement.scrollHeight + 'px'"


def in_words(summary: Summary) -> str:
    """`✓ PASSED quickstart`."""
    return f"{outcome_of(summary)} {summary.name}"


def as_html(summary: Summary, run: Path, series: Series) -> str:
    """The headline with its reasons, and below it the figures and charts in a frame of their own.

    The frame keeps the styles and scripts of the page apart from those of the notebook.
    """
    outcome = outcome_of(summary)
    style = f"color:{_COLOURS[outcome.kind]};font-size:1.5em;font-weight:700"
    reasons = [*summary.reasons, *summary.unsustained_because]
    items = "".join(f"<li>{escape(reason)}</li>" for reason in reasons)
    if isinstance(summary, StudySummary):
        page = study_excerpt(summary, run)
    else:
        page = excerpt(summary, series)
    return (
        f'<div style="{style}">{escape(str(outcome))}</div>'
        f"<div>{escape(summary.name)}, run {escape(summary.run)}: "
        f"{escape(meaning_of(summary))}</div>"
        f"{f'<ul>{items}</ul>' if items else ''}"
        f'<iframe srcdoc="{escape(page)}" onload="{_FIT}" '
        'style="width:100%;height:640px;border:0"></iframe>'
    )


class NotebookProgress:
    """One line below the cell, replaced about once a second."""

    def __init__(self, show: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._show = show
        self._clock = clock
        self._shown_at = float("-inf")

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._show(f"run: {event.path}")
        elif isinstance(event, Finished):
            self._show(in_words(event.summary))
        elif isinstance(event, Progress) and self._clock() - self._shown_at >= _EVERY_S:
            self._shown_at = self._clock()
            self._show(event.line)


def notebook_progress() -> NotebookProgress | None:
    """None outside a notebook."""
    # A notebook's kernel has loaded both; importing them elsewhere would take time.
    shell, display = (sys.modules.get(name) for name in ("ipykernel", "IPython.display"))
    if shell is None or display is None:
        return None
    line: Any = display.display({"text/plain": ""}, raw=True, display_id=True)
    return NotebookProgress(
        lambda text: line.update({"text/plain": text}, raw=True), time.monotonic
    )
