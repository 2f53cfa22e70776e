"""Runs a pipeline: `dual.run(pipeline, source="events", sink="results", brokers="host:9092")`."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.dual.model.estimates import Estimates
from streamgauge.dual.pipeline import Pipeline
from streamgauge.dual.reports import Report
from streamgauge.dual.settings import DualSettings
from streamgauge.dual.spark.building import Cuts, Divisions, Starting, begin, built, divided
from streamgauge.dual.spark.client import spark_options
from streamgauge.dual.spark.cutting import cuts_that_pay
from streamgauge.dual.spark.folder import Folder
from streamgauge.dual.spark.rehearsing import rehearse
from streamgauge.dual.spark.runtime import Runtime
from streamgauge.dual.spark.session import adapt, slots_needed
from streamgauge.dual.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEP_S = 0.25


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal has found."""

    cuts: Cuts
    estimates: Sequence[Estimates]
    """Of each segment."""


class Running:
    """A pipeline at work, in a thread of its own."""

    def __init__(
        self,
        session: SparkSession,
        pipeline: Pipeline,
        *,
        source: str,
        sink: str,
        brokers: str,
        checkpoint: Path,
        cuts: Cuts = "auto",
        starting: Starting = "earliest",
        client: Mapping[str, Any] | None = None,
        settings: DualSettings | None = None,
        rehearsal: str | None = None,
        known: Rehearsed | None = None,
        on_report: Callable[[Report], None] = lambda _: None,
        on_failure: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        """`rehearsal`: a topic with records like those of the source, to rehearse with. `known`:
        what a rehearsal of the same pipeline has found before."""
        self._folder = Folder(checkpoint)
        self._brokers, self._client = brokers, client
        self._topics = Topics(brokers, client)
        self._on_report, self._on_failure = on_report, on_failure
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self.failure: Exception | None = None
        found = self._folder.read()
        if found is not None:
            cuts = [names[-1] for names in found.operations]
        elif known is not None:
            cuts = known.cuts
        elif cuts == "auto":
            cuts = [] if rehearsal is None else self._cuts(session, pipeline, rehearsal)
        divisions = divided(pipeline, cuts)
        standing = begin(session, self._topics, self._folder, divisions, source, sink, starting)
        partitions = len(standing.begins[0])
        shuffled = int(session.conf.get("spark.sql.shuffle.partitions") or 1)
        adapt(session, slots_needed(partitions, shuffled, len(divisions)))
        options = spark_options(self._topics.settings)
        segments = built(session, divisions, standing.topics, partitions, options)
        self.runtime = Runtime(
            segments,
            self._topics,
            self._folder,
            standing.begins,
            settings or DualSettings(),
            self._write,
        )
        if known is None and rehearsal is not None and found is None:
            known = Rehearsed(cuts, self._rehearse(session, divisions, rehearsal, partitions))
        self.rehearsed = known
        if known is not None:
            for one, estimates in zip(self.runtime.active, known.estimates, strict=True):
                one.monitor.estimates = estimates
        self.runtime.start()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _cuts(self, session: SparkSession, pipeline: Pipeline, topic: str) -> list[str]:
        options = spark_options(self._topics.settings)
        return cuts_that_pay(session, pipeline, topic, options)

    def _rehearse(
        self, session: SparkSession, divisions: Divisions, topic: str, partitions: int
    ) -> list[Estimates]:
        """In topics of their own."""
        chain = [topic, *(f"{topic}-{place}" for place in range(1, len(divisions) + 1))]
        for name in chain[1:]:
            self._topics.make(name, partitions)
        options = spark_options(self._topics.settings)
        segments = built(session, divisions, chain, partitions, options)
        estimates = rehearse(self._topics, segments, self._folder.path)
        self._topics.delete(chain[1:])
        return estimates

    def switch(self, operation: str, paradigm: Any) -> None:
        """Makes the segment of an operation switch now, whatever the load."""
        with self._lock:
            names = [one.segment.names for one in self.runtime.active]
            place = next(n for n, found in enumerate(names) if operation in found)
            self.runtime.switch(place, paradigm)

    @property
    def active(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ends the queries; what is not processed stays in the topics for the next start."""
        self._stopping.set()
        self._thread.join()
        self.runtime.stop()
        self._topics.close()

    def remove(self) -> None:
        """Deletes the topics between segments and the folder: the pipeline cannot go on."""
        between = [one.segment.source for one in self.runtime.active[1:]]
        Topics(self._brokers, self._client).delete(between)
        shutil.rmtree(self._folder.path, ignore_errors=True)

    def _work(self) -> None:
        try:
            while not self._stopping.wait(STEP_S):
                with self._lock:
                    self.runtime.step()
        except Exception as error:
            self.failure = error
            self._on_failure(error)

    def _write(self, report: Report) -> None:
        line = {"event": report.event, **report.model_dump(mode="json")}
        with self._folder.reports.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._on_report(report)


def run(
    pipeline: Pipeline,
    *,
    source: str,
    sink: str,
    brokers: str,
    checkpoint: str | Path,
    session: SparkSession | None = None,
    seconds: float | None = None,
    **options: Any,
) -> None:
    """Runs until Ctrl-C, or for some seconds; goes on where it was left, by its checkpoint."""
    from pyspark.sql import SparkSession as Sessions

    session = session or Sessions.builder.getOrCreate()
    running = Running(
        session,
        pipeline,
        source=source,
        sink=sink,
        brokers=brokers,
        checkpoint=Path(checkpoint),
        **options,
    )
    until_s = time.monotonic() + (float("inf") if seconds is None else seconds)
    try:
        while running.active and time.monotonic() < until_s:
            time.sleep(0.1)
    except KeyboardInterrupt:
        pass
    finally:
        running.stop()
    if running.failure is not None:
        raise running.failure
