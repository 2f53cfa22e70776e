"""Puts a run's summary and series together from whatever the run left behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from streamgauge.driver.instance import InstanceStatus
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.running.environment import Environment
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.summarising.evidence import evidence
from streamgauge.measure.calculate import Findings
from streamgauge.measure.limits import limits
from streamgauge.measure.monitor import resource_series, resource_summary
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import (
    InstanceSummary,
    MonitorCost,
    Series,
    Status,
    Summary,
    Verdict,
)
from streamgauge.measure.throughput import mean_rates, pull_series, worked_off_rate
from streamgauge.measure.verdict import judge, sustained
from streamgauge.parts import read_parts


@dataclass
class Facts:
    """What a run has come to know so far; filled as it goes on."""

    command: str
    quick: bool
    environment: Environment
    status: Status = Status.FINISHED
    failure: str = ""
    unmeasured: str = ""
    """Why nobody calculated latencies and validity, if that was on purpose."""
    record: RunRecord | None = None
    findings: Findings = field(default_factory=Findings)
    monitor: MonitorCost = field(default_factory=MonitorCost)
    phases_s: dict[str, float] = field(default_factory=dict)
    own_words: list[dict[str, int]] = field(default_factory=list)
    varied: dict[str, Any] = field(default_factory=dict)
    repetition: int = 1
    started_at: datetime = field(default_factory=lambda: datetime.now(timezone.utc))


def summarise(plan: Plan, directory: RunDirectory, facts: Facts) -> tuple[Summary, Series]:
    """The figures, and what is drawn."""
    record = facts.record
    samples = [
        read_parts(directory.driver(number) / "samples") for number in range(plan.load.instances)
    ]
    end_us = record.end_us if record else plan.experiment.duration
    start_us = record.start_us if record else round(facts.started_at.timestamp() * 1e6)
    resources = resource_series(read_parts(directory.resources), start_us)
    series = Series(
        load_s=end_us / 1e6,
        warm_up_s=plan.experiment.warm_up_us / 1e6,
        latency=facts.findings.series,
        histogram=facts.findings.histogram,
        pull=pull_series(samples),
        resources=resources,
    )
    verdict, reasons, kept_up = _judgement(plan, facts)
    offered, drained = mean_rates(samples, end_us if record else None)
    if record:
        offered = round(sum(status.offered for status in record.instances) / (end_us / 1e6), 1)
    summary = Summary(
        name=plan.experiment.name,
        run=directory.path.name,
        status=facts.status,
        verdict=verdict,
        reasons=reasons,
        sustained=kept_up,
        offered_per_s=offered,
        drained_per_s=drained,
        latency_ms=facts.findings.latency,
        validation=facts.findings.validation,
        input_hash=record.input_hash if record else "",
        seed=plan.experiment.load.seed,
        versions=facts.environment.versions,
        machine=facts.environment.machine,
        parameters=flat_parameters(plan),
        quick=facts.quick,
        command=facts.command,
        started_at=facts.started_at.isoformat(timespec="seconds"),
        phases_s=facts.phases_s,
        driver=[_instance(status) for status in record.instances] if record else [],
        resources=resource_summary(resources, end_us / 1e6),
        monitor=facts.monitor,
        varied=facts.varied,
        repetition=facts.repetition,
    )
    if record is not None:
        seen = evidence(plan, directory, record, summary, facts.own_words)
        warm_up_us = plan.experiment.warm_up_us
        worked_off = worked_off_rate(seen.pulls, warm_up_us / 1e6, end_us / 1e6)
        update = {"limits": limits(seen), "worked_off_per_s": worked_off}
        summary = summary.model_copy(update=update)
    checked = [threshold.check(summary) for threshold in plan.experiment.thresholds]
    return summary.model_copy(update={"thresholds": checked}), series


def _judgement(plan: Plan, facts: Facts) -> tuple[Verdict, list[str], bool | None]:
    if facts.record is None:
        reason = facts.failure or "the run was interrupted before it ended"
        return Verdict.UNKNOWN, [reason], None
    verdict, reasons = judge(facts.record, facts.findings.validation, plan.experiment.load.max_lag)
    kept_up, causes = sustained(facts.record)
    if facts.unmeasured and verdict is Verdict.UNKNOWN:
        return verdict, [*causes, facts.unmeasured], kept_up
    if facts.failure:
        causes.append(facts.failure)
    return verdict, [*reasons, *causes], kept_up


def _instance(status: InstanceStatus) -> InstanceSummary:
    return InstanceSummary(
        instance=status.instance,
        stream=status.stream,
        offered=status.offered,
        drained=status.drained,
        queue_max=status.queue_max,
        queue_limits=status.queue_limits,
        lag_p99_ms=status.lag_p99_us / 1_000,
        unsustained_because=status.unsustained_because,
    )


def flat_parameters(plan: Plan) -> dict[str, Any]:
    """`load.rate: 100000`, with the defaults of query and system spelled out."""
    source, sink = plan.system.paths()
    skipped = {"quick", "workload", "system", "thresholds", "channel", "search", "figure", "vary"}
    data: dict[str, Any] = {
        **plan.experiment.model_dump(mode="json", exclude=skipped),
        "workload": {
            "query": plan.query_config.name,
            **plan.query.settings(),
        },
        "system": {
            "name": plan.experiment.system.name,
            **plan.system.model_dump(mode="json"),
            "source": source,
            "sink": sink,
        },
        "channel": plan.experiment.channel.model_dump(mode="json", exclude={"token"}),
    }
    flat: dict[str, Any] = {}

    def descend(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                descend(f"{prefix}.{key}" if prefix else key, inner)
        else:
            flat[prefix] = value

    descend("", data)
    return flat
