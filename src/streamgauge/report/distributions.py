"""How the visibility latency of each case of a study is distributed, all in one chart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from streamgauge.measure.figures import TIMES
from streamgauge.measure.summary import Histogram
from streamgauge.report.chart import Axis, Chart, ChartSeries, HorizontalAxis

MOST_LINES = 6


def distribution_chart(found: Sequence[tuple[str, Histogram]]) -> Chart:
    """By the label of a case: the share of its input events that were visible in time."""
    drawn = [(label, one) for label, one in found if any(one.visibility)][:MOST_LINES]
    edges = sorted({edge for _, one in drawn for edge in one.edges_ms})
    lines = [
        ChartSeries(label=label, values=_shares(one, edges), colour=number)
        for number, (label, one) in enumerate(drawn, 1)
    ]
    return Chart(
        id="distributions",
        title="Visibility latency, cumulated",
        definition=TIMES["visibility"].definition + " The share of events at or below a latency.",
        x=HorizontalAxis(label="visibility latency (log scale)", unit="ms", values=edges, log=True),
        axes=[Axis(label="events", unit="percent")],
        series=lines,
        wide=True,
        empty="no trial has a visibility latency",
    )


def _shares(histogram: Histogram, edges: Sequence[float]) -> list[float]:
    """The per cent of the events below each edge."""
    below = dict(zip(histogram.edges_ms, [0, *accumulate(histogram.visibility)], strict=True))
    total, last, shares = sum(histogram.visibility), 0, []
    for edge in edges:
        last = below.get(edge, last)
        shares.append(100 * last / total)
    return shares
