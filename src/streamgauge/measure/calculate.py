"""The calculation after a trial, in a process of its own: `python -m … CONFIG`.

It answers every command `calculate {work}` with the findings. It writes one file, the latency of
every single result.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from streamgauge.compute.failures import explained
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import (
    Histogram,
    Ingestion,
    IngestionSeries,
    Latency,
    LatencySeries,
    SingleLatencies,
    Validation,
    VisibilitySeries,
)
from streamgauge.parts import read_parts
from streamgauge.processes.component import Console
from streamgauge.queries.base import Query
from streamgauge.queries.load import build_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class CalculationConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    master: str
    scratch: Path


class CalculationWork(BaseModel):
    """The files of a trial."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    record: Path
    results: Path
    handovers: dict[str, list[Path]]
    mirror: Path | None = None
    """What the service holds that mirrors the results, if there is one."""
    latencies: Path | None = None
    """Where the latency of every single result is written; None: nowhere."""
    log: Path | None = None


class Findings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    latency: Latency = Latency()
    series: LatencySeries = LatencySeries()
    visibility_series: VisibilitySeries = VisibilitySeries()
    histogram: Histogram = Histogram()
    singles: SingleLatencies = SingleLatencies()
    validation: Validation = Validation()
    ingestion: Ingestion | None = None
    ingestion_series: IngestionSeries = IngestionSeries()
    append_times_ms: list[float] = []


def calculate(spark: SparkSession, work: CalculationWork, console: Console | None) -> Findings:
    """Latencies and validation of a finished run."""

    def begin(name: str) -> None:
        if console is not None:
            console.emit("phase", name=name)

    record = RunRecord.model_validate_json(work.record.read_text())
    record = record.model_copy(update={"log": work.log})
    query = build_query(record.query)
    try:
        return _findings(spark, work, record, query, begin)
    except Exception as error:
        raise query.explained(error) from error


def _findings(
    spark: SparkSession,
    work: CalculationWork,
    record: RunRecord,
    query: Query,
    begin: Callable[[str], None],
) -> Findings:
    # The station imports this module for its models, without the cost of PySpark.
    from streamgauge.measure import latency, single_latencies
    from streamgauge.measure.broker_log import log_findings
    from streamgauge.measure.decoding import decoded
    from streamgauge.measure.input_times import carry_input_times, with_input_times
    from streamgauge.measure.log_checks import times_back
    from streamgauge.measure.mirror import mirror_faults
    from streamgauge.measure.validation import expected_results, validate

    if query.results_are_the_log:
        begin("reading the log of the broker")
        return Findings(**log_findings(spark, record, query))
    expected = expected_results(spark, query, record)
    parts = sorted(str(part) for part in work.results.glob("part-*.parquet"))
    results = spark.read.parquet(*parts) if parts else None
    if results is not None and record.encoding == "text":
        results = decoded(results, expected.schema, query)
    if results is not None and not carry_input_times(results, query):
        # The oracle is used twice then: for the times, and for the comparison.
        expected = expected.cache()
        results = with_input_times(spark, query, record, expected, results)
        expected = expected.drop(query.shape.input_time)
    warm_up_s = record.warm_up_us / 1e6
    found: dict[str, Any] = {}
    checked: dict[str, int] = {}
    if results is not None:
        begin("calculating latencies")
        handovers = latency.Handovers(
            [read_parts(folder) for folder in folders] for folders in work.handovers.values()
        )
        rows = latency.latencies(results, record.start_us, handovers, query.shape).cache()
        drawn = latency.series(rows)
        times = latency.with_growth(latency.statistics(rows, warm_up_s), drawn, warm_up_s)
        visible, checked = _followed(spark, query, record, results, begin)
        if visible is not None:
            seen = latency.statistics(visible, warm_up_s, (latency.VISIBILITY,))
            times = times.model_copy(update={latency.VISIBILITY: seen.visibility})
            found["visibility_series"] = latency.visibility_series(visible)
        histogram = latency.histogram(rows, warm_up_s, visible)
        found |= {"latency": times, "series": drawn, "histogram": histogram}
        if work.latencies is not None:
            single_latencies.write_single_latencies(rows, work.latencies)
            found["singles"] = single_latencies.sampled(work.latencies, record.start_us)
        rows.unpersist()
    begin("validating the results")
    if record.load.in_broker_time and work.log is not None:
        folders = [work.results, *(work.log / name for name in record.load.in_broker_time)]
        checked["times_back"] = times_back(folders)
    if record.mirrored_in and work.mirror is not None:
        expected = expected.cache()
        checked |= mirror_faults(spark, query, work.mirror, expected)
    validation = validate(spark, query, record, results, expected).model_copy(update=checked)
    expected.unpersist()
    return Findings(**found, validation=validation)


def _followed(
    spark: SparkSession,
    query: Query,
    record: RunRecord,
    results: DataFrame,
    begin: Callable[[str], None],
) -> tuple[DataFrame | None, dict[str, int]]:
    """Visibility latency by event, and in update mode the counts of the updates one by one."""
    from streamgauge.measure import visibility

    prefixes = visibility.prefixes_of(spark, query, record)
    if prefixes is None:
        return None, {}
    begin("following the input events")
    prefixes = prefixes.cache()
    visible = visibility.visibility(prefixes, results, query, record.start_us).cache()
    if query.output_mode == "append":
        return visible, {}
    updates, wrong = visibility.wrong_updates(prefixes, results, query)
    return visible, {"updates": updates, "wrong_updates": wrong}


def main() -> None:
    from streamgauge.compute.session import open_session

    console = Console()
    config = CalculationConfig.model_validate_json(Path(sys.argv[1]).read_text())
    try:
        console.emit("phase", name="starting Spark")
        conf = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4"}
        spark = open_session("streamgauge-measure", config.master, config.scratch, conf, short=True)
        for message in console.commands():
            work = CalculationWork.model_validate(message["work"])
            findings = calculate(spark, work, console)
            console.emit("finished", findings=findings.model_dump())
    except Exception as error:
        traceback.print_exc()
        console.fail(explained(error))
        os._exit(1)


if __name__ == "__main__":
    main()
    os._exit(0)
