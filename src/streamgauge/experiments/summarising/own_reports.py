"""What a system reported of itself during a trial: its paradigms, the parts of its latency."""

from __future__ import annotations

from streamgauge.dual.history import History, read_reports
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.measure.components import (
    LatencyComponents,
    components,
    of_segments,
    outside_wait_ms,
)
from streamgauge.measure.paradigms import Paradigms, paradigms_of
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import Series, TrialSummary
from streamgauge.systems.running import Diagnostics


def reported_paradigms(directory: RunDirectory, record: RunRecord | None) -> Paradigms | None:
    """None if the system said nothing about paradigms."""
    if record is None or not directory.events.exists():
        return None
    history = History(read_reports(directory.events))
    end_us = record.start_us + record.end_us
    return paradigms_of(history, record.start_us, end_us, record.warm_up_us)


def reported_components(
    plan: Plan,
    directory: RunDirectory,
    record: RunRecord,
    summary: TrialSummary,
    series: Series,
    diagnostics: Diagnostics,
) -> LatencyComponents | None:
    """Where the visibility latency is measured and the system says what it consists of."""
    visible, drained_per_s = summary.latency_ms.visibility, summary.drained_per_s
    if not visible.count:
        return None
    parts = plan.system.own_parts(diagnostics, drained_per_s or 0.0)
    if summary.paradigms is not None:
        history = History(read_reports(directory.events))
        first_us = record.start_us + record.warm_up_us
        parts = of_segments(history, first_us, record.start_us + record.end_us)
    if parts is None:
        return None
    pull, warm_up_s = series.pull, series.warm_up_s
    outside_ms = outside_wait_ms(pull.time_s, pull.queued, drained_per_s, warm_up_s, series.load_s)
    growing = summary.latency_ms.event_time.growing
    return components(parts, visible.mean, outside_ms, growing=growing)
