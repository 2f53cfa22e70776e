"""What is allowed in an experiment, and will disappoint."""

from __future__ import annotations

import math

from streamgauge import writing
from streamgauge.events.sources import StreamSpec
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.planning.study import Study, plan_at
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.quantiles import results_needed
from streamgauge.units import parse_duration_us

_TIMES = ("window", "window_start", "window_end")
"""Key columns that tell windows apart."""


def warnings(study: Study) -> list[str]:
    """Thresholds for which too few results are expected, each once."""
    cases = [case.experiment for case in study.cases if case.experiment.thresholds]
    found = (text for one in cases for text in _too_few(plan_at(one, study.base)))
    return list(dict.fromkeys(found))


def _too_few(plan: Plan) -> list[str]:
    expected = expected_results(plan)
    if expected is None:
        return []
    found = []
    for threshold in plan.experiment.thresholds:
        figure = FIGURES[threshold.figure]
        needed = results_needed(figure.name.rpartition(".")[2]) if figure.time else 0
        if expected < needed:
            found.append(
                f"`{threshold.expression}` will fail: about {writing.count(expected)} results "
                f"are expected after the warm-up, and {figure.label} needs "
                f"{writing.count(needed)}; set a limit for `{figure.time}.max`, or a longer "
                "`duration`"
            )
    return found


def expected_results(plan: Plan) -> int | None:
    """About how many results the warm-up leaves; None where it cannot be told.

    Every window has one for each combination of the key columns, if their values are known.
    """
    columns = {
        name: column
        for source in plan.query.streams.values()
        if isinstance(source, StreamSpec)
        for name, column in source.columns.items()
    }
    keys = [key for key in plan.query.shape.keys if key not in _TIMES]
    slide_us = _slide_us(plan)
    if slide_us is None or keys == list(plan.query.shape.keys) or not {*keys} <= {*columns}:
        return None
    experiment = plan.experiment
    last_us = experiment.duration - experiment.load.disorder
    # A window counts if it ends after the warm-up and before the last event.
    windows = math.ceil(last_us / slide_us) - 1 - experiment.warm_up_us // slide_us
    counts = [getattr(columns[key], "count", None) for key in keys]
    known = [count for count in counts if count is not None]
    return max(0, windows) * math.prod(known) if len(known) == len(counts) else None


def _slide_us(plan: Plan) -> int | None:
    """The time from one window to the next."""
    settings = plan.query.settings()
    for name in ("slide", "window"):
        text = str(settings.get(name) or "")
        try:
            # Spark's words for units are longer than ours.
            return parse_duration_us(_short(text)) or None
        except ValueError:
            continue
    return None


def _short(text: str) -> str:
    number, _, unit = text.partition(" ")
    short = {"millisecond": "ms", "second": "s", "minute": "min", "hour": "h"}
    return f"{number} {short.get(unit.removesuffix('s'), unit)}"
