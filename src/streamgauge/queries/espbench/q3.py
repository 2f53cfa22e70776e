"""Q3, identify errors: the records of a machine whose mf01 is too high."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.events.sources import LINE, NUMBER
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import Input
from streamgauge.queries.espbench.base import (
    MF01,
    RECORD,
    RecordQuery,
    field,
    log_of,
    numbers,
    selected,
    whole_record,
)
from streamgauge.queries.replay import Replay

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HIGHEST = 14_963


class ErrorsQuery(RecordQuery):
    """Q3, identify errors: the records of a machine whose mf01 is too high."""

    functions: ClassVar[tuple[str, ...]] = ("filter",)

    @property
    def inputs(self) -> Mapping[str, Input]:
        return {"sensors": self.sensor_stream(1)}

    def on_spark(self, sensors: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        too_high = sensors.where(field(MF01).cast("int") > HIGHEST)
        return too_high.select(NUMBER, whole_record(), F.col(EVENT_TIME).alias(LATEST_EVENT_TIME))

    def makes_result(self, stream: str, events: pa.RecordBatch) -> NDArray[np.bool_]:  # noqa: ARG002
        return numbers(events.column(LINE), MF01) > HIGHEST

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        found = selected(log_of(spark, replay, "sensors"), MF01, HIGHEST, inf)
        return found.select(NUMBER, RECORD, F.col(EVENT_TIME).alias(LATEST_EVENT_TIME))
