"""One run of a segment in one paradigm: a query of Spark, from its start to its full stop."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.spark.segment import Segment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

# The default of the batch size halves the throughput of micro-batches. A data stream sends at once:
# while a request is on its way, a batch gathers anyway.
_SINK = {"kafka.batch.size": "262144"}
_LINGER_MS = {Paradigm.DATA: "1", Paradigm.OPERATION: "5"}
LONGEST_START_S = 30.0
LONGEST_STOP_S = 10.0
_POLL_S = 0.005


@dataclass(frozen=True)
class Trigger:
    """How a run takes its records."""

    paradigm: Paradigm
    seconds: float
    """The micro-batch interval; as data stream the time between two commits of offsets."""

    @property
    def arguments(self) -> dict[str, str]:
        length = f"{round(self.seconds * 1_000)} milliseconds"
        return {("realTime" if self.paradigm is Paradigm.DATA else "processingTime"): length}


class Run:
    """A started query."""

    def __init__(
        self,
        segment: Segment,
        trigger: Trigger,
        checkpoint: Path,
        messages: DataFrame,
        sink: str | None = None,
    ) -> None:
        self.segment = segment
        self.trigger = trigger
        self.checkpoint = checkpoint
        self._query: StreamingQuery = (
            messages.writeStream.format("kafka")
            .options(**_SINK, **{"kafka.linger.ms": _LINGER_MS[trigger.paradigm]})
            .options(**segment.client, topic=sink or segment.sink)
            .outputMode("update")
            .option("checkpointLocation", str(checkpoint))
            .trigger(**trigger.arguments)
            .start()
        )

    @property
    def paradigm(self) -> Paradigm:
        return self.trigger.paradigm

    @property
    def query(self) -> StreamingQuery:
        return self._query

    @property
    def active(self) -> bool:
        return bool(self._query.isActive)

    @property
    def failure(self) -> str | None:
        """Why it has ended by itself."""
        found = None if self.active else self._query.exception()
        return None if found is None else str(found)

    def wait_until_takes_input(self) -> None:
        """Spark plans and starts tasks before it asks for the first record."""
        deadline = time.monotonic() + LONGEST_START_S
        while self.active and time.monotonic() < deadline:
            status = self._query.status
            message = str(status["message"])
            if self.paradigm is Paradigm.OPERATION and message.startswith("Waiting for"):
                return
            if self.paradigm is Paradigm.DATA and (
                status["isTriggerActive"] and message.startswith("Processing")
            ):
                return
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """Returns when none of its tasks is left: what it has sent is all that it will send."""
        tracker = self.segment.session.sparkContext.statusTracker()
        jobs = [
            tracker.getJobInfo(one) for one in tracker.getJobIdsForGroup(str(self._query.runId))
        ]
        stages = [stage for job in jobs if job is not None for stage in job.stageIds]
        with contextlib.suppress(Exception):
            # A query that is stopped in the middle of a batch may report its own interruption.
            self._query.stop()
        # Spark cancels the tasks, and does not wait for them.
        deadline = time.monotonic() + LONGEST_STOP_S
        found = [tracker.getStageInfo(stage) for stage in stages]
        while any(one is not None and one.numActiveTasks for one in found):
            if time.monotonic() > deadline:
                break
            time.sleep(_POLL_S)
            found = [tracker.getStageInfo(stage) for stage in stages]

    def committed(self) -> dict[int, int]:
        """The offsets before which all records are done for good; empty: none yet."""
        commits = self.checkpoint / "commits"
        numbers = [int(one.name) for one in commits.glob("[0-9]*") if one.name.isdigit()]
        if not numbers:
            return {}
        text = (self.checkpoint / "offsets" / str(max(numbers))).read_text()
        # A version, metadata, and a line for each source.
        offsets = json.loads(text.splitlines()[2])[self.segment.source]
        return {int(number): int(at) for number, at in offsets.items()}
