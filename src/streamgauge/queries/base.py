"""What a workload's query is: one Spark definition, an oracle, and the shape of its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from streamgauge.events.spec import DataSet, StreamSpec
from streamgauge.queries.replay import Replay

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OutputMode = Literal["append", "update"]


class ResultShape(BaseModel):
    """How results are compared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keys: tuple[str, ...]
    """Columns that identify a result; the others, but for the sink's own, are its values."""
    closes: str | None = None
    """Column with the time at which a result is final. In append mode a result is expected when
    the input has reached that time; without such a column every result is."""


class Query(BaseModel):
    """A query with its parameters, which are the fields of the subclass.

    The definition never mentions a source, a sink, a trigger or a watermark: the event time of its
    inputs has a watermark already.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    output_mode: OutputMode = "append"

    @property
    def oracle_is(self) -> str:
        """What results are compared with, in words, for the report."""
        raise NotImplementedError

    @property
    def data_set(self) -> DataSet:
        raise NotImplementedError

    @property
    def shape(self) -> ResultShape:
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """All parameters with their defaults, for the report."""
        return self.model_dump(mode="json")

    @property
    def alignment_us(self) -> int:
        """The load begins at a multiple of this, so that a repeated run has the same windows."""
        return 1_000_000

    @property
    def reads(self) -> tuple[str, ...] | None:
        """The columns that `define` and `expected` need besides the event time, so that no other
        is made and sent; None: all."""
        return None

    @property
    def streams(self) -> dict[str, StreamSpec]:
        """What is offered: of every stream of the data set the columns that are read."""
        return {name: one.reading(self.reads) for name, one in self.data_set.streams.items()}

    def define(self, *streams: DataFrame) -> DataFrame:
        """The query as the system runs it: the streams of the data set in, results out."""
        raise NotImplementedError

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """The right results for the input that was offered, found in another way than `define`."""
        raise NotImplementedError
