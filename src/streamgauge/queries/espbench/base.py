"""What the queries of ESPBench share: the data, the form of messages, and the log of a topic.

An event is a message `id;time;line`; its event time is the time at which the broker appended it.
The oracles compute from the log of the input topics, as it is after the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field

from streamgauge.events.sources import LINE, NUMBER, MadeSource
from streamgauge.events.spec import (
    ARRIVAL,
    BROKER_TIME,
    EVENT_TIME,
    LATEST_EVENT_TIME,
    MESSAGE,
    OFFSET,
    PARTITION,
    PLACE,
    SCHEDULED_TIME,
)
from streamgauge.queries.base import Query, ResultShape, Stream
from streamgauge.queries.replay import Replay
from streamgauge.units import WholeNumber

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

SINK = (BROKER_TIME, PARTITION, OFFSET, ARRIVAL, PLACE)
RECORD = "record"
MF01, MF02, MF03, WP_ID = 2, 3, 4, 56
"""Places of the fields in a line of a sensor; the workplace is the last one."""
_SENSORS = "streamgauge.events.factory.sensors"
_PRODUCTION = "streamgauge.events.factory.production"


class EspbenchQuery(Query):
    """A query over the streams of a factory."""

    data_seed: WholeNumber = Field(default=1, ge=0, description="of the data set")
    scale: WholeNumber = Field(default=3, ge=1, le=1_000, description="warehouses")
    rows: WholeNumber = Field(
        default=100_000, ge=1, le=10_000_000, description="of a sensor file, which is repeated"
    )
    sensors: str | None = Field(
        default=None, description="a DEBS 2012 file, instead of made-up records"
    )

    strict_order: bool = Field(
        default=False, description="results out of the order of their input are wrong"
    )
    fill: bool = Field(
        default=True, description="fill a database of your own, whose tables are emptied"
    )

    @property
    def oracle_is(self) -> str:
        return "computed again from the log of the input topics, in another way"

    def sensor_stream(self, workplace: int) -> Stream:
        """The records of a machine, again and again."""
        if self.sensors is None:
            function = "sensor_lines"
            parameters: dict[str, int | str] = {"seed": self.data_seed, "rows": self.rows}
        else:
            function = "debs_lines"
            parameters = {"path": str((self._base / self.sensors).resolve())}
        source = MadeSource(
            function=f"{_SENSORS}:{function}",
            parameters={**parameters, "workplace": workplace},
            numbered=True,
        )
        return Stream(source, clock="broker")

    def production_stream(self) -> Stream:
        """The times at which products enter and leave workplaces, to the last one."""
        source = MadeSource(
            function=f"{_PRODUCTION}:production_lines",
            parameters={"seed": self.data_seed, "scale": self.scale},
            numbered=True,
            ends=True,
        )
        return Stream(source, clock="broker")


class RecordQuery(EspbenchQuery):
    """A query whose results are records of its input, each at most once."""

    by_record: ClassVar[tuple[str, ...]] = (NUMBER,)

    @property
    def shape(self) -> ResultShape:
        return ResultShape(
            keys=self.by_record,
            text=RECORD,
            single=True,
            in_order=NUMBER if self.strict_order else None,
            output_time=BROKER_TIME,
            input_time=LATEST_EVENT_TIME,
        )

    def parsed(self, messages: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        return messages.select(
            F.split(MESSAGE, ";", 3)[0].try_cast("bigint").alias(NUMBER),
            F.col(MESSAGE).alias(RECORD),
            *SINK,
        )


def field(place: int) -> Column:
    """A field of the line, as text."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.get(F.split(LINE, "\t"), F.lit(place))


def whole_record() -> Column:
    """The message as it came in."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.concat_ws(";", NUMBER, F.unix_micros(SCHEDULED_TIME), LINE).alias(RECORD)


def log_of(spark: SparkSession, replay: Replay, stream: str) -> DataFrame:
    """What the broker has of a stream: id, line, record, event time and place."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = F.split(MESSAGE, ";", 3)
    return spark.read.parquet(*replay.log_parts(stream)).select(
        parts[0].cast("bigint").alias(NUMBER),
        parts[2].alias(LINE),
        F.col(MESSAGE).alias(RECORD),
        F.timestamp_micros(BROKER_TIME).alias(EVENT_TIME),
        PARTITION,
        OFFSET,
    )


def numbers(lines: pa.Array, place: int) -> NDArray[np.int64]:
    """A field of many lines, for the oracles."""
    fields = pc.list_element(pc.split_pattern(lines, "\t"), place)
    return np.asarray(fields.cast(pa.int64()).to_numpy(zero_copy_only=False))


def selected(events: DataFrame, place: int, low: float, high: float) -> DataFrame:
    """The rows whose field lies between two values, by Arrow instead of Spark's expressions."""

    def select(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            values = numbers(batch.column(LINE), place)
            yield batch.filter(pa.array((values > low) & (values < high)))

    return events.mapInArrow(select, events.schema)
