"""Latency and validity of a finished trial again, from the files of its directory."""

from __future__ import annotations

from streamgauge.errors import UsageError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.running.measurement import calculation_work
from streamgauge.experiments.running.run_directory import (
    RunDirectory,
    read_json,
    written_by_a_run,
)
from streamgauge.experiments.running.station import Station, Tell
from streamgauge.experiments.summarising.own_reports import reported_paradigms
from streamgauge.experiments.summarising.recovery import fault_windows, recovery
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import TrialSummary
from streamgauge.measure.verdict import judge, sustained
from streamgauge.report.html import write_report


def recalculate(directory: RunDirectory, tell: Tell) -> TrialSummary:
    """Replaces the latencies, the validation and the verdict in the summary and the report."""
    if not directory.record.is_file():
        trials = [path.name for path in sorted(directory.trials.glob("*")) if path.is_dir()]
        raise UsageError(
            f"{directory.path.name} has no record of a load",
            fix=f"name one of its trials, such as {directory.path.name}/trials/{trials[0]}"
            if trials
            else "choose a trial that came to the end of its load",
        )
    record = written_by_a_run(directory.record, read_json(RunRecord))
    experiment, _ = read_experiment(str(directory.experiment))
    with Station(directory.logs) as station:
        work = calculation_work(directory, record)
        findings = station.calculate(work, experiment.measure_master, tell)
    verdict, reasons = judge(record, findings.validation, experiment.load.max_lag)
    old, series = directory.read_trial_summary(), directory.read_series()
    recovered = recovery(directory, record, findings.validation, series.resources)
    kept_up, causes = sustained(record, recovered)
    paradigms = reported_paradigms(directory, record)
    summary = old.model_copy(
        update={
            "paradigms": paradigms,
            "recovery": recovered,
            "sustained": kept_up,
            "unsustained_because": causes,
            "latency_ms": findings.latency,
            "validation": findings.validation,
            "verdict": verdict,
            "reasons": reasons,
        }
    )
    checked = [threshold.check(summary) for threshold in experiment.thresholds]
    summary = summary.model_copy(update={"thresholds": checked})
    series = series.model_copy(
        update={
            "faults": fault_windows(recovered, series.load_s),
            "latency": findings.series,
            "visibility": findings.visibility_series,
            "paradigms": paradigms,
            "histogram": findings.histogram,
            "singles": findings.singles,
        }
    )
    directory.write(directory.series, series)
    directory.write_summary(summary)
    write_report(summary, series, directory.report)
    return summary
