"""Runs a pipeline: `dual.run(pipeline, source="events", sink="results", brokers="host:9092")`."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.dual.model.division import cut_pays, seconds_per_record
from streamgauge.dual.model.estimates import Estimates
from streamgauge.dual.pipeline import Pipeline
from streamgauge.dual.reports import Report
from streamgauge.dual.settings import DualSettings
from streamgauge.dual.spark.building import Cuts, Divisions, Starting, begin, built, divided
from streamgauge.dual.spark.client import spark_options
from streamgauge.dual.spark.cutting import cuts_to_try
from streamgauge.dual.spark.folder import Folder
from streamgauge.dual.spark.rehearsing import rehearse
from streamgauge.dual.spark.runtime import Runtime
from streamgauge.dual.spark.segment import Segment
from streamgauge.dual.spark.session import adapt, slots_needed
from streamgauge.dual.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEP_S = 0.25


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal has found."""

    cuts: Sequence[str]
    """Behind these operations."""
    estimates: Sequence[Estimates]
    """Of each segment."""
    cut_because: str = ""
    """Why it is divided so, if that was to be chosen."""


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
        elif rehearsal is not None:
            known = self._rehearsed(session, pipeline, cuts, rehearsal)
            cuts = known.cuts
        elif cuts == "auto":
            cuts = []
        divisions = divided(pipeline, cuts)
        standing = begin(session, self._topics, self._folder, divisions, source, sink, starting)
        segments = self._built(session, divisions, standing.topics)
        self.runtime = Runtime(
            segments,
            self._topics,
            self._folder,
            standing.begins,
            settings or DualSettings(),
            self._write,
            known.cut_because if known is not None else "",
        )
        self.rehearsed = known
        if known is not None:
            for one, estimates in zip(self.runtime.active, known.estimates, strict=True):
                one.monitor.estimates = estimates
        self.runtime.start()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _rehearsed(
        self, session: SparkSession, pipeline: Pipeline, cuts: Cuts, topic: str
    ) -> Rehearsed:
        """With the given cuts; `auto`: in one piece and cut where it may pay, and the faster."""

        def tried(cuts: Cuts) -> Rehearsed:
            divisions = divided(pipeline, cuts)
            behind = [operations[-1].name for operations in divisions[:-1]]
            return Rehearsed(behind, self._rehearse(session, divisions, topic))

        if cuts != "auto":
            return tried(cuts)
        adapt(session, 1)
        to_try = cuts_to_try(session, pipeline, topic, spark_options(self._topics.settings))
        if not to_try:
            because = "not cut: nowhere do few records arrive at a state"
            return replace(tried([]), cut_because=because)
        # What is rehearsed later is a little faster, because more of it is compiled. The cut first,
        # so that only one that pays wins.
        cut, whole = tried(to_try), tried([])
        pays = cut_pays(whole.estimates, cut.estimates)
        speeds = [
            f"{1 / seconds:,.0f}/s" if seconds else "unknown"
            for seconds in map(seconds_per_record, (whole.estimates, cut.estimates))
        ]
        because = (
            f"{'cut' if pays else 'not cut'} behind {', '.join(to_try)}: {speeds[0]} in one piece, "
            f"{speeds[1]} cut"
        )
        return replace(cut if pays else whole, cut_because=because)

    def _rehearse(
        self, session: SparkSession, divisions: Divisions, topic: str
    ) -> Sequence[Estimates]:
        """In topics of their own."""
        partitions = self._topics.partitions(topic) or 1
        count = len(divisions)
        chain = [topic, *(f"{topic}-{count}-{place}" for place in range(1, count + 1))]
        for name in chain[1:]:
            self._topics.make(name, partitions)
        segments = self._built(session, divisions, chain)
        estimates = rehearse(self._topics, segments, self._folder.path)
        self._topics.delete(chain[1:])
        return estimates

    def _built(
        self, session: SparkSession, divisions: Divisions, chain: Sequence[str]
    ) -> list[Segment]:
        partitions = self._topics.partitions(chain[0]) or 1
        shuffled = int(session.conf.get("spark.sql.shuffle.partitions") or 1)
        adapt(session, slots_needed(partitions, shuffled, len(divisions)))
        return built(session, divisions, chain, partitions, spark_options(self._topics.settings))

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
