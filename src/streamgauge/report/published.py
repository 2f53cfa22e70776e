"""Published figures beside ours: in a list, and in the form of the publication's tables."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge import writing
from streamgauge.measure.figures import MEAN_LATENCIES, TIMES, TWO_TIMES, figure_named
from streamgauge.measure.summary import MAXIMUM, Case, Published, Scale, StudySummary
from streamgauge.measure.unit import Unit
from streamgauge.report.cases import RATE, SEARCH, case_label, mean_of, setting_text, without_rate
from streamgauge.report.cells import heading
from streamgauge.report.markup import EMPTY, Html, element, folded, joined, left, note, prose, table

NOT_COMPARABLE = (
    "Published figures were measured on other hardware and with other versions: they are beside "
    "ours to show the order of magnitude, and the ratio is no comparison of systems."
)
_FEW_ROWS = 12
_THIS_MACHINE = "this machine"
_SYSTEM = "system.name"
_LATENCY_CELL = ("mean", "min", "max", "p90", "p95", "p99")


def scale_text(scale: Scale) -> str:
    """`Rates are shares of the maximum of query yahoo, system spark: 61,000/s …`."""
    text = (
        f"Rates are shares of the maximum of {case_label(scale.settings)}, measured in this run: "
        f"{writing.or_nothing(scale.maximum_sustainable_per_s, writing.rate)}."
    )
    if scale.published_per_s is None or scale.factor is None:
        return text
    return (
        f"{text} It stands for the {writing.rate(scale.published_per_s)} of the publication: its "
        f"rates times {scale.factor:.3g} are ours."
    )


def published_cells(one: Published) -> list[str]:
    """Figure, published value, our value and their ratio."""
    figure = figure_named(one.figure)
    label, unit = figure.full_label, figure.unit
    if one.derived is not None:
        label, unit = one.derived.label, one.derived.unit
    ratio = writing.NOTHING
    # Changes have a sign each, so their ratio has no meaning.
    if one.ours is not None and one.value and not one.growing and unit is not Unit.PERCENT:
        ratio = f"{one.ours / one.value:.3g} ×"
    published = writing.or_nothing(one.value, unit.write)
    if one.growing:
        published += ", growing"
    return [label, published, writing.or_nothing(one.ours, unit.write), ratio]


def published_table(figures: list[Published]) -> Html:
    """Every published figure side by side with ours, and why that is no comparison."""
    if not figures:
        return EMPTY
    head = ["", left("figure"), "published", "ours", "ours / published"]
    rows = []
    for one in figures:
        label, *values = published_cells(one)
        rows.append([", ".join(filter(None, system_and_setting(one))), left(label), *values])
    for name, texts in (
        ("our case", ["" if one.derived else case_label(one.varied) for one in figures]),
        ("remark", [one.note for one in figures]),
    ):
        if any(texts):
            head.append(left(name))
            rows = [[*row, prose(text)] for row, text in zip(rows, texts, strict=True)]
    content = table(head, rows, class_="numbers")
    if len(rows) > _FEW_ROWS:
        content = folded(f"every figure ({len(rows)})", content, style="margin-top:8px")
    title = element("h3", "Published, and ours", style="margin-top:16px")
    return joined(title, content, note(NOT_COMPARABLE))


def system_and_setting(one: Published) -> tuple[str, str]:
    """`spark, 2 nodes` → `Spark`, `2 nodes`."""
    system, comma, setting = one.label.rpartition(", ")
    return (_capitalised(system), setting) if comma else (_capitalised(setting), "")


def _capitalised(name: str) -> str:
    return name[:1].upper() + name[1:]


def _ours(summary: StudySummary, share: str = "", case: Case | None = None) -> str:
    varied = case.varied.get(_SYSTEM) if case else None
    system = _capitalised(str(varied or summary.parameters.get(_SYSTEM, "system")))
    return " ".join(filter(None, (system, share, "(ours)")))


def _by_setting(summary: StudySummary) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = {}
    for one in summary.published:
        if one.value is not None:
            found.setdefault(system_and_setting(one), {})[one.figure] = one.value
    return found


def _means(case: Case) -> dict[str, float]:
    return {name: spread.mean for name, spread in case.figures.items()}


def _system_table(caption: str, cells: Mapping[tuple[str, str], str]) -> Html:
    """One row per system, and a column for every setting of any system."""
    if not cells:
        return EMPTY
    systems, settings = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    rows = [
        (system, *(cells.get((system, setting), "") for setting in settings)) for system in systems
    ]
    above = element("p", caption, class_="note", style="margin:0 0 8px")
    return joined(above, table(("", *settings), rows, class_="numbers"))


def throughput_table(summary: StudySummary) -> Html:
    cells = {}
    for one in summary.published:
        if one.figure == MAXIMUM and one.value is not None:
            remark = f" ({one.note})" if one.note else ""
            cells[system_and_setting(one)] = writing.count(one.value) + remark
    for case in summary.cases:
        maximum = mean_of(case, MAXIMUM)
        others = {key: value for key, value in case.varied.items() if key not in (RATE, _SYSTEM)}
        place = case_label(others) or _THIS_MACHINE
        text = "none found" if maximum is None else writing.count(maximum)
        cells[_ours(summary, case=case), place] = text
    return _system_table("events per second", cells)


def latency_table(summary: StudySummary) -> Html:
    """The latencies of every system and setting, at each share of the maximum."""
    cells = {}
    for case in summary.cases:
        rate = case.varied.get(RATE)
        share = "" if rate in (None, SEARCH) else setting_text(rate)
        place = case_label(without_rate(case.varied)) or _THIS_MACHINE
        cells[_ours(summary, share), place] = _latency_cell(_means(case), growing=case.growing)
    for where, values in _by_setting(summary).items():
        cells[where] = _latency_cell(values)
    return _system_table("event-time latency in ms: avg, min, max, (p90, p95, p99)", cells)


def _latency_cell(values: Mapping[str, float], *, growing: bool = False) -> str:
    """In the publication's form: `3673, 2537, 8596, (4603, 4953, 5990)`."""
    names = [f"event_time.{statistic}" for statistic in _LATENCY_CELL]
    cells = [f"{values[name]:.0f}" if name in values else writing.NOTHING for name in names]
    if growing:
        cells[0] = "growing"
    mean, least, most, *quantiles = cells
    return f"{mean}, {least}, {most}, ({', '.join(quantiles)})"


def two_times_table(summary: StudySummary) -> Html:
    rows = [
        (case_label(case.varied) or _ours(summary), *_two_means(_means(case), case.growing))
        for case in summary.cases
    ]
    rows += [
        (", ".join(filter(None, where)), *_two_means(values))
        for where, values in _by_setting(summary).items()
        if any(name in values for name in MEAN_LATENCIES)
    ]
    head = ("mean latency", *(heading(TIMES[time]) for time in TWO_TIMES), "event / processing")
    return table(head, rows, class_="numbers")


def _two_means(values: Mapping[str, float], growing: bool = False) -> tuple[str, str, str]:
    if growing:
        return "growing", "growing", writing.NOTHING
    event, processing = (values.get(name) for name in MEAN_LATENCIES)
    ratio = f"{event / processing:.1f} ×" if event is not None and processing else writing.NOTHING
    write = writing.duration
    return writing.or_nothing(event, write), writing.or_nothing(processing, write), ratio
