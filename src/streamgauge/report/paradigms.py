"""The paradigms of a run: bands per operation on the time line, the switches, the operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from streamgauge import writing
from streamgauge.dual.model.latency import Paradigm
from streamgauge.measure.figures import FIGURES, Term
from streamgauge.measure.paradigms import OperationParadigms, Paradigms, Switch, parts_of
from streamgauge.measure.summary import Series, TrialSummary
from streamgauge.report.cells import heading, value_cell
from streamgauge.report.chart import Band, Chart, ChartSeries, HorizontalAxis, Lane, Piece
from streamgauge.report.markup import EMPTY, Html, bar, element, joined, left, note, section, table

OPERATION_STREAM = 2
"""The colour of what is held in micro-batches, in every chart."""
_COLOURS = {Paradigm.DATA: 4, Paradigm.OPERATION: OPERATION_STREAM}
_VALUES = {Paradigm.DATA: 0.0, Paradigm.OPERATION: 1.0}
_GAP, _GAP_COLOUR, _GAP_VALUE = "gap", 6, 2.0
_CURSOR_PLACES = 400
"""Times at which the cursor finds the paradigm of each operation."""
_TERMS = {
    "operation_stream_percent": Term(
        "operation stream", "Share of the load that it spent as operation stream (micro-batches)."
    ),
    "latency_ms": Term(
        "latency",
        "Mean time in front of and in the segment after the warm-up: mean queue by mean arrival "
        "rate (Little's law), from the topics before and behind it.",
    ),
    "arrival_per_s": Term("V", "Records per second that arrive in front of it."),
    "data_speed_per_s": Term("PD", "Records per second that it can process as data stream."),
    "operation_speed_per_s": Term(
        "PO", "Records per second that it can process as operation stream, without scheduling."
    ),
    "magnification": Term("λ", "Records out per record in."),
    "queue": Term("L", "Records that wait in front of it."),
    "upper_limit": Term("L_up", "Above this queue it goes to the operation stream."),
    "lower_limit": Term("L_down", "Below this queue it goes back to the data stream."),
}
_WRITE: dict[str, Callable[[float], str]] = {
    "latency_ms": writing.duration,
    "queue": writing.count,
    "upper_limit": writing.count,
    "lower_limit": writing.count,
    "magnification": lambda value: f"{value:.3g}",
}


def operation_stream_bands(found: Paradigms | None) -> list[Band]:
    """When at least one operation was an operation stream, for every chart over time."""
    if found is None:
        return []
    held = sorted(
        (band.from_s, band.to_s, place)
        for place, one in enumerate(found.operations)
        for band in one.bands
        if band.paradigm is Paradigm.OPERATION
    )
    stretches: list[tuple[float, float, set[int]]] = []
    for start, end, place in held:
        if stretches and start <= stretches[-1][1]:
            first, last, places = stretches.pop()
            stretches.append((first, max(last, end), places | {place}))
        else:
            stretches.append((start, end, {place}))
    return [
        Band(start=start, end=end, label=_label(found, places), colour=OPERATION_STREAM)
        for start, end, places in stretches
    ]


def _label(found: Paradigms, places: set[int]) -> str:
    """`operation stream: filter, join`, those that were one at some time."""
    names = [found.operations[place].operation for place in sorted(places)]
    everything = len(names) == len(found.operations) > 1
    return f"operation stream: {'all' if everything else ', '.join(names)}"


def paradigm_charts(series: Series) -> list[Chart]:
    """A lane per operation; none if the system has no paradigms."""
    found = series.paradigms
    if found is None or not found.operations:
        return []
    lanes = [
        Lane(label=one.operation, pieces=list(_pieces(one, found))) for one in found.operations
    ]
    places = [series.load_s * n / _CURSOR_PLACES for n in range(_CURSOR_PLACES + 1)]
    gaps = any(switch.gap_s for switch in found.switches)
    chart = Chart(
        id="paradigms",
        title="Paradigm of each operation",
        definition="Whether an operation was a data stream (records flow through it) or an "
        "operation stream (it is scheduled on micro-batches), as the runtime reports it.",
        x=HorizontalAxis(label="time since the load started", unit="s", values=places),
        axes=[],
        series=[
            ChartSeries(label=lane.label, values=[_value_at(lane, at) for at in places], colour=5)
            for lane in lanes
        ],
        lanes=lanes,
        group="time",
        wide=True,
        note="Red is the gap at a switch: from the last result in the old paradigm to the first in "
        "the new one."
        if gaps
        else "",
    )
    return [chart]


def _pieces(one: OperationParadigms, found: Paradigms) -> Iterator[Piece]:
    """The gaps last, because they lie on the bands."""
    for band in one.bands:
        colour = _COLOURS[band.paradigm]
        yield Piece(start=band.from_s, end=band.to_s, colour=colour, label=band.paradigm.value)
    for switch in found.switches:
        if switch.gap_s and one.operation in switch.operations:
            start, end = switch.gap_s
            yield Piece(start=start, end=end, colour=_GAP_COLOUR, label=_GAP, opaque=True)


def _value_at(lane: Lane, at_s: float) -> float | None:
    names = {_GAP: _GAP_VALUE, **{one.value: value for one, value in _VALUES.items()}}
    found = [piece for piece in lane.pieces if piece.start <= at_s <= piece.end]
    return names[found[-1].label] if found else None


def paradigm_section(summary: TrialSummary) -> Html:
    """The operations and the switches of a run; empty if the system has no paradigms."""
    found = summary.paradigms
    if found is None:
        return EMPTY
    return section("Paradigms", _operations(found.operations), _switches(found), id="paradigms")


def _operations(operations: list[OperationParadigms]) -> Html:
    together = any(len(one.segment) > 1 for one in operations)
    rows = [
        (
            one.operation,
            *([left(", ".join(one.segment))] if together else []),
            joined(
                FIGURES["paradigms.operation_stream_percent"].write(one.operation_stream_percent),
                bar(one.operation_stream_percent / 100, "open"),
            ),
            *(_cell(name, getattr(one, name)) for name in list(_TERMS)[1:]),
        )
        for one in operations
    ]
    segment = [left(heading(Term("segment", "Operations that run as one query.")))]
    head = ("operation", *(segment if together else []), *map(heading, _TERMS.values()))
    return joined(
        table(head, rows, class_="numbers"),
        note("As the runtime reports it; V to L_down are the last that it saw during the load."),
    )


def _cell(name: str, value: float | None) -> Html:
    if value is None:
        return element("span", writing.NOTHING, class_="nothing", title="not yet known")
    return element("span", _WRITE.get(name, writing.rate)(value), class_="value")


def _switches(found: Paradigms) -> Html:
    if not found.switches:
        return note("No operation was switched during the load.")
    parts = parts_of(found.switches)
    head = (
        "switch at",
        left("operations"),
        left("from → to"),
        heading(FIGURES["paradigms.longest_gap_ms"], "gap"),
        *parts,
        heading(Term("in all", "From the request to the first result in the new paradigm.")),
        heading(Term("batches", "The interval of the micro-batches, as operation stream.")),
    )
    rows = [
        (
            f"{one.at_s:.1f} s",
            left(", ".join(one.operations)),
            left(f"{one.before.value} → {one.after.value}"),
            _gap(one),
            *(writing.or_nothing(one.parts_ms.get(part), writing.duration) for part in parts),
            writing.duration(1_000 * (one.at_s - one.asked_s)),
            writing.or_nothing(one.interval_ms, writing.duration) if one.interval_ms else "",
        )
        for one in found.switches
    ]
    title = f"Switches ({writing.count(found.switch_count)})"
    return joined(
        element("h3", title, style="margin-top:16px"), table(head, rows, class_="numbers")
    )


def _gap(one: Switch) -> Html:
    figure = FIGURES["paradigms.longest_gap_ms"]
    return value_cell(figure, one.gap_ms, why_not="no result within a minute")
