"""Q4, check machine power: low mf03 of a machine that is not planned to be down."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.events.factory.business import Business
from streamgauge.events.factory.items import NEVER_DOWN, WORKPLACE
from streamgauge.events.sources import LINE, NUMBER
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import Input
from streamgauge.queries.espbench.base import (
    MF03,
    RECORD,
    WP_ID,
    RecordQuery,
    field,
    log_of,
    numbers,
    selected,
    whole_record,
)
from streamgauge.queries.espbench.business import business_database
from streamgauge.queries.espbench.downtimes import read_downtimes
from streamgauge.queries.replay import Replay

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOWEST = 8_105
_PLACE = "workplace"


class PowerQuery(RecordQuery):
    """Q4, check machine power: low mf03 of a machine that is not planned to be down.

    The downtimes are read once per batch, so a change counts from the next batch on.
    """

    functions: ClassVar[tuple[str, ...]] = ("filter", "transformation", "join with historical data")
    in_batches_only: ClassVar[str] = (
        "in real-time mode Spark reads a table once per batch of minutes, so that a changed "
        "downtime would count far too late"
    )
    by_record: ClassVar[tuple[str, ...]] = (_PLACE, NUMBER)

    @property
    def inputs(self) -> Mapping[str, Input]:
        return {
            "sensors_1": self.sensor_stream(1),
            "sensors_2": self.sensor_stream(2),
            "business": business_database(self),
        }

    def on_spark(self, sensors_1: DataFrame, sensors_2: DataFrame, business: str) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        low = sensors_1.unionByName(sensors_2).where(field(MF03).cast("int") < LOWEST)
        placed = low.withColumn(_PLACE, field(WP_ID).cast("int"))
        planned = read_downtimes(sensors_1.sparkSession, business)
        up = (F.col(EVENT_TIME) < F.col("start")) | (F.col(EVENT_TIME) > F.col("end"))
        return (
            placed.join(F.broadcast(planned), _PLACE)
            .where(up)
            .select(_PLACE, NUMBER, whole_record(), F.col(EVENT_TIME).alias(LATEST_EVENT_TIME))
        )

    def parsed(self, messages: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        fields = F.split(RECORD, "\t")
        place = F.get(fields, F.size(fields) - 1).try_cast("int")
        return super().parsed(messages).withColumn(_PLACE, place)

    def makes_result(self, stream: str, events: pa.RecordBatch) -> NDArray[np.bool_]:
        """As the downtimes are made: one workplace is never down, the other always."""
        low = numbers(events.column(LINE), MF03) < LOWEST
        return low & (stream == f"sensors_{NEVER_DOWN}")

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """With the downtimes as they were made, not as the database has them."""
        from pyspark.sql import functions as F  # noqa: N812

        # The business data were made before the load began.
        made = Business(self.data_seed, self.scale, now_us=replay.start_us - 1)
        planned = WORKPLACE.batch(made, 1, 3).to_pylist()
        found = []
        for number, row in enumerate(planned, 1):
            low = selected(log_of(spark, replay, f"sensors_{number}"), MF03, -inf, LOWEST)
            window = F.lit(row["wp_downtime_start"]), F.lit(row["wp_downtime_end"])
            up = low.where(~F.col(EVENT_TIME).between(*window))
            found.append(up.withColumn(_PLACE, F.lit(number)))
        both = found[0].unionByName(found[1])
        return both.select(_PLACE, NUMBER, RECORD, F.col(EVENT_TIME).alias(LATEST_EVENT_TIME))
