"""Where a cut may pay: in front of the state, where few of the records arrive.

A topic between two operations costs writing and reading of what passes it. It lets the operations
before it stay a data stream while those behind it hold micro-batches. Whether that is faster is for
the rehearsal to show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamgauge.dual.pipeline import Pipeline
from streamgauge.dual.spark.following import steps_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_LEFT = 0.5
"""∏λ in front of a cut."""


def cuts_to_try(
    session: SparkSession, pipeline: Pipeline, topic: str, client: Mapping[str, str]
) -> list[str]:
    """The operation behind which to cut, if any; λ is counted on the records of a topic."""
    options = {**client, "subscribe": topic}
    stream = session.readStream.format("kafka").options(**options).load()
    rows, before = stream.select("key", "value", "timestamp"), ""
    records = session.read.format("kafka").options(**options).load()
    batch = records.select("key", "value", "timestamp")
    arrived = batch.count()
    for operation in pipeline.operations:
        rows = operation.apply(rows)
        if steps_of(rows).stateful:
            few = arrived and batch.count() <= MOST_LEFT * arrived
            return [before] if before and few else []
        batch, before = operation.apply(batch), operation.name
    return []
