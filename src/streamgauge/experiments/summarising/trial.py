"""Summary and series of a trial, from the files of its run directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from streamgauge.dual.history import History, read_reports
from streamgauge.errors import RunInterrupted, StreamgaugeError
from streamgauge.experiments.planning.model import Experiment
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.running.environment import Environment
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.summarising.evidence import evidence
from streamgauge.experiments.summarising.recovery import fault_windows, recovery
from streamgauge.measure.calculate import Findings
from streamgauge.measure.components import (
    LatencyComponents,
    components,
    of_segments,
    outside_wait_ms,
)
from streamgauge.measure.monitor import resource_series, resource_summary
from streamgauge.measure.paradigms import Paradigms, paradigms_of
from streamgauge.measure.record import RunRecord, SourceRecord
from streamgauge.measure.recovery_figures import Recovery
from streamgauge.measure.summary import (
    InstanceSummary,
    MonitorCost,
    Series,
    Status,
    TrialSummary,
    Verdict,
)
from streamgauge.measure.throughput import mean_rates, processed_rate, pull_series
from streamgauge.measure.verdict import judge, sustained
from streamgauge.parts import read_parts

UNSEEN = (
    "the system has processes that streamgauge did not start: their CPU, memory, disk and network "
    "are not measured, so the resources of `system` are those of its program on this machine only"
)


@dataclass
class RunState:
    """What a trial or a study has found so far; filled while it runs."""

    command: str
    quick: bool
    environment: Environment
    warnings: list[str] = field(default_factory=list)
    """Of the whole run: its trials share the list."""
    status: Status = Status.FINISHED
    failure: str = ""
    unmeasured: str = ""
    """Why latencies and validity were left out on purpose."""
    record: RunRecord | None = None
    findings: Findings = field(default_factory=Findings)
    monitor: MonitorCost = field(default_factory=MonitorCost)
    phases_s: dict[str, float] = field(default_factory=dict)
    diagnostics: list[dict[str, int]] = field(default_factory=list)
    varied: dict[str, Any] = field(default_factory=dict)
    repetition: int = 1
    started_at: datetime = field(default_factory=lambda: datetime.now(timezone.utc))

    def end(self, failure: Exception | None) -> None:
        """Sets the status, and the cause where the run did not come to its end."""
        if isinstance(failure, RunInterrupted):
            self.status = Status.INTERRUPTED
        elif failure is not None:
            self.status = Status.FAILED
            self.failure = f"unexpected {type(failure).__name__}: {failure}"
            if isinstance(failure, StreamgaugeError):
                self.failure = failure.cause

    def head(self, experiment: Experiment, directory: RunDirectory) -> dict[str, Any]:
        """The fields that every summary has."""
        return {
            "name": experiment.name,
            "run": directory.path.name,
            "status": self.status,
            "seed": experiment.load.seed,
            "warnings": list(self.warnings),
            "versions": self.environment.versions,
            "machine": self.environment.machine,
            "quick": self.quick,
            "command": self.command,
            "started_at": self.started_at.isoformat(timespec="seconds"),
            "phases_s": self.phases_s,
        }


def summarise_trial(
    plan: Plan, directory: RunDirectory, state: RunState
) -> tuple[TrialSummary, Series]:
    """The figures of a trial, and the series that its report draws."""
    record, experiment = state.record, plan.experiment
    samples = [
        read_parts(directory.driver(number) / "samples") for number in range(plan.load.instances)
    ]
    end_us = record.end_us if record else experiment.duration
    start_us = record.start_us if record else round(state.started_at.timestamp() * 1e6)
    resources = resource_series(read_parts(directory.resources), start_us)
    paradigms = _paradigms(directory, state)
    series = Series(
        load_s=end_us / 1e6,
        warm_up_s=experiment.warm_up_us / 1e6,
        latency=state.findings.series,
        visibility=state.findings.visibility_series,
        histogram=state.findings.histogram,
        singles=state.findings.singles,
        pull=pull_series(samples),
        resources=resources,
        ingestion=state.findings.ingestion_series,
        paradigms=paradigms,
        append_times_ms=state.findings.append_times_ms,
    )
    recovered = None
    if record is not None:
        recovered = recovery(directory, record, state.findings.validation, resources)
        series = series.model_copy(update={"faults": fault_windows(recovered, end_us / 1e6)})
    offered, drained = mean_rates(samples, end_us if record else None)
    if record:
        offered = round(sum(status.offered for status in record.instances) / (end_us / 1e6), 1)
    summary = TrialSummary(
        **state.head(experiment, directory),
        **_judgement(plan, state, recovered),
        offered_per_s=offered,
        drained_per_s=drained,
        latency_ms=state.findings.latency,
        validation=state.findings.validation,
        ingestion=state.findings.ingestion,
        paradigms=paradigms,
        recovery=recovered,
        input_hash=record.input_hash if record else "",
        parameters=flat_parameters(plan),
        driver=[_instance(status) for status in record.instances] if record else [],
        resources=resource_summary(resources, end_us / 1e6),
        monitor=state.monitor,
        functions=list(plan.query.functions),
        without_system=plan.query.results_are_the_log,
        varied=state.varied,
        repetition=state.repetition,
    )
    if record is not None:
        seen = evidence(plan, directory, record, summary)
        update = {
            "limits": plan.system.limits(seen, state.diagnostics),
            "processed_per_s": processed_rate(seen.pulls, series.warm_up_s, series.load_s),
            "components": _components(plan, directory, state, record, summary, series),
        }
        summary = summary.model_copy(update=update)
    if not plan.system.runs_here:
        summary = summary.model_copy(update={"warnings": [*summary.warnings, UNSEEN]})
    checked = [threshold.check(summary) for threshold in experiment.thresholds]
    return summary.model_copy(update={"thresholds": checked}), series


def _paradigms(directory: RunDirectory, state: RunState) -> Paradigms | None:
    """From what the system said while it ran; None if it said nothing about paradigms."""
    if state.record is None or not directory.events.exists():
        return None
    start_us = state.record.start_us
    end_us, warm_up_us = start_us + state.record.end_us, state.record.warm_up_us
    try:
        history = History(read_reports(directory.events))
    except StreamgaugeError as error:
        # A report that cannot be read must not cost the figures that were measured.
        state.warnings.append(f"the paradigms are not shown: {error.cause}")
        return None
    return paradigms_of(history, start_us, end_us, warm_up_us)


def _components(
    plan: Plan,
    directory: RunDirectory,
    state: RunState,
    record: RunRecord,
    summary: TrialSummary,
    series: Series,
) -> LatencyComponents | None:
    """Where the visibility latency is measured and the system says what it consists of."""
    visible = summary.latency_ms.visibility
    if not visible.count:
        return None
    parts = plan.system.own_parts(state.diagnostics, summary.drained_per_s or 0.0)
    if summary.paradigms is not None:
        history = History(read_reports(directory.events))
        first_us = record.start_us + record.warm_up_us
        parts = of_segments(history, first_us, record.start_us + record.end_us)
    if parts is None:
        return None
    pull = series.pull
    outside_ms = outside_wait_ms(pull.time_s, pull.queued, summary.drained_per_s, series.warm_up_s)
    growing = summary.latency_ms.event_time.growing
    return components(parts, visible.mean, outside_ms, growing=growing)


def _judgement(plan: Plan, state: RunState, recovered: Recovery | None) -> dict[str, Any]:
    """Verdict and sustained, each with its reasons."""
    if state.record is None:
        reason = state.failure or "the run was interrupted before it ended"
        return {"verdict": Verdict.UNKNOWN, "reasons": [reason]}
    verdict, reasons = judge(state.record, state.findings.validation, plan.experiment.load.max_lag)
    kept_up, causes = sustained(state.record, recovered)
    if state.unmeasured and verdict is Verdict.UNKNOWN:
        reasons = [state.unmeasured]
    elif state.failure:
        reasons = [*reasons, state.failure]
    return {
        "verdict": verdict,
        "reasons": reasons,
        "sustained": kept_up,
        "unsustained_because": causes,
    }


def _instance(status: SourceRecord) -> InstanceSummary:
    same = InstanceSummary.model_fields.keys() - {"lag_p99_ms"}
    return InstanceSummary(**status.model_dump(include=same), lag_p99_ms=status.lag_p99_us / 1_000)


def flat_parameters(plan: Plan) -> dict[str, Any]:
    """`load.rate: 100000`, with the defaults of query, system and channel."""
    skipped = {"quick", "workload", "system", "thresholds", "channel", "search", "figure"}
    skipped |= {"vary", "also"}
    data = {
        **plan.experiment.model_dump(mode="json", exclude=skipped),
        "workload": {"query": plan.query_config.name, **plan.query.settings()},
        "system": {
            "name": plan.experiment.system.name,
            **plan.system.model_dump(mode="json"),
            "source": plan.connector.source,
            "sink": _sink(plan),
        },
        "channel": {
            "name": plan.experiment.channel.name,
            **plan.channel.model_dump(mode="json", exclude=set(plan.channel.secrets)),
        },
    }
    return dict(_flat(data))


def _sink(plan: Plan) -> str:
    """How results get out of the system."""
    if plan.stores_rows:
        return "rows of a table, written by the system"
    text = plan.query.shape.text is not None
    return plan.connector.sink.replace("as JSON", "as text") if text else plan.connector.sink


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
