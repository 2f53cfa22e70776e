"""A query that is a chain of named operations, so that a runtime can place each on its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streamgauge.dual.pipeline import Operation
from streamgauge.events.spec import LATEST_EVENT_TIME
from streamgauge.queries.base import EVENT, OutputMode, Query, Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class PipelineQuery(Query):
    """One stream, and operations on the columns of its events.

    Reading and parsing messages in front of them, and storing the results behind them, is the
    matter of the channel. Native expressions only, and results that replace each other by key: so
    every operation runs in micro-batches and record by record. No operation may rely on a
    watermark of an earlier one, because there may be a topic between them.
    """

    output_mode: OutputMode = "update"

    @abstractmethod
    def operations(self, **fixed: Any) -> Sequence[Operation]:
        """The chain; `fixed` are the inputs other than the stream, by name."""

    @property
    def stream(self) -> str:
        """The name of the stream."""
        (name,) = (name for name, one in self.inputs.items() if isinstance(one, Stream))
        return name

    @property
    def oracle_is(self) -> str:
        return "independent"

    def on_spark(self, **inputs: Any) -> DataFrame:
        rows: DataFrame = inputs.pop(self.stream)
        for operation in self.operations(**inputs):
            rows = operation.apply(rows)
        return rows


def running_counts(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The prefixes of a count per key: each row with the number of rows up to it.

    Rows of one event, or of one time, each have a count of their own, because a system may send an
    update after any of them.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    so_far = Window.partitionBy(*keys).orderBy(LATEST_EVENT_TIME, EVENT)
    return rows.select(
        *keys,
        F.row_number().over(so_far).cast("bigint").alias("count"),
        LATEST_EVENT_TIME,
        EVENT,
    )
