"""The interface of Spark to a channel: streams of events to read, and a writer of results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from streamgauge.queries.base import Mirror
from streamgauge.systems.base import Assignment
from streamgauge.systems.spark.following import Follower

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from streamgauge.systems.spark.system import SparkBase


class SparkConnector(ABC):
    """Spark's end of a channel, for one assignment."""

    def __init__(self, session: SparkSession, assignment: Assignment, system: SparkBase) -> None:
        self.session = session
        self.assignment = assignment
        self.system = system

    @abstractmethod
    def read(self, stream: str) -> DataFrame:
        """The events of a stream, one row each, with a watermark on `event_time`."""

    @abstractmethod
    def write(self, results: DataFrame) -> DataStreamWriter:
        """A writer to the sink of the channel, without trigger, mode and checkpoint."""

    def discard(self, results: DataFrame) -> DataStreamWriter:
        """A writer for the results of a rehearsal."""

        def take(batch: DataFrame, _: int) -> None:
            batch.toArrow()

        return results.writeStream.foreachBatch(take)

    def follow(self, mirror: Mirror, failed: Callable[[Exception], None]) -> Follower:
        """Keeps a mirror of the results; for a connector with `follows_results`."""
        raise NotImplementedError

    def rehearse(self, stream: str, batches: int) -> DataFrame | None:  # noqa: ARG002
        """Batches of made-up events in the form of `read`; None: there is no rehearsal."""
        return None
