"""The calculation after a trial, in a process of its own: `python -m … CONFIG`.

Reads the directory of the trial, writes nothing into it; answers `calculate {work}` with the
findings, as often as it is asked.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from streamgauge.measure import latency
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import Histogram, Latency, LatencySeries, Validation
from streamgauge.measure.validation import validate
from streamgauge.parts import read_parts
from streamgauge.processes.component import Console
from streamgauge.queries.load import build_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class CalculationConfig(BaseModel):
    """Where the calculation runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    master: str
    scratch: Path


class CalculationWork(BaseModel):
    """What a trial has left behind."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    record: Path
    results: Path
    handovers: dict[str, list[Path]]


class Findings(BaseModel):
    """What came out of the calculation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    latency: Latency = Latency()
    series: LatencySeries = LatencySeries()
    histogram: Histogram = Histogram()
    validation: Validation = Validation()


def calculate(spark: SparkSession, work: CalculationWork, console: Console | None) -> Findings:
    """Latencies and validation of a finished run."""

    def tell(name: str) -> None:
        if console is not None:
            console.emit("phase", name=name)

    record = RunRecord.model_validate_json(work.record.read_text())
    query = build_query(record.query)
    results = _results(spark, work.results)
    warm_up_s = record.warm_up_us / 1e6
    findings = Findings()
    if results is not None:
        tell("calculating latencies")
        handovers = latency.Handovers(
            [read_parts(folder) for folder in folders] for folders in work.handovers.values()
        )
        rows = latency.latencies(results, record.start_us, handovers, query.shape).cache()
        drawn = latency.series(rows)
        findings = Findings(
            latency=latency.with_growth(latency.statistics(rows, warm_up_s), drawn, warm_up_s),
            series=drawn,
            histogram=latency.histogram(rows, warm_up_s),
        )
        rows.unpersist()
    tell("validating the results")
    validation = validate(spark, query, record, results)
    return findings.model_copy(update={"validation": validation})


def _results(spark: SparkSession, folder: Path) -> DataFrame | None:
    parts = sorted(str(part) for part in folder.glob("part-*.parquet"))
    return spark.read.parquet(*parts) if parts else None


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
        lines = [line for line in str(error).splitlines() if line.strip()]
        console.emit("failed", reason=(lines[0] if lines else type(error).__name__)[:300])
        os._exit(1)


if __name__ == "__main__":
    main()
    os._exit(0)
