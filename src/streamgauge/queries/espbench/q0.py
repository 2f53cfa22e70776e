"""Q0: every record as it came, a baseline for the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamgauge.events.sources import NUMBER
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import Input
from streamgauge.queries.espbench.base import RECORD, RecordQuery, log_of, whole_record
from streamgauge.queries.replay import Replay

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class IdentityQuery(RecordQuery):
    """Q0: every record as it came, a baseline for the others."""

    @property
    def inputs(self) -> Mapping[str, Input]:
        return {"sensors": self.sensor_stream(1)}

    def on_spark(self, sensors: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        return sensors.select(NUMBER, whole_record(), F.col(EVENT_TIME).alias(LATEST_EVENT_TIME))

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        time = F.col(EVENT_TIME).alias(LATEST_EVENT_TIME)
        return log_of(spark, replay, "sensors").select(NUMBER, RECORD, time)
