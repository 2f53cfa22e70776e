"""Q2, determine outliers: stochastic outlier selection among every 500 records."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from streamgauge.events.sources import NUMBER
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import Input
from streamgauge.queries.espbench.base import (
    MF01,
    MF02,
    RECORD,
    RecordQuery,
    field,
    log_of,
    whole_record,
)
from streamgauge.queries.espbench.sos import outlier_probabilities
from streamgauge.queries.espbench.sos_reference import reference_probabilities
from streamgauge.queries.replay import Replay
from streamgauge.units import WholeNumber

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

WINDOW = 500
LEAST = 0.5
"""Records with at least this probability are outliers."""
ROUNDS = 50
"""Of the bisection that defines the probabilities."""
_STATE = "records BINARY"
"""The records of an incomplete window, pickled."""
_RESULTS = "id BIGINT, record STRING, latest_event_time TIMESTAMP"
Probabilities = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class OutliersQuery(RecordQuery):
    """Q2, determine outliers: stochastic outlier selection among every 500 records.

    A window is the records with 500 neighbouring ids, so it is the same with several partitions;
    an incomplete one has no results.
    """

    functions: ClassVar[tuple[str, ...]] = ("windowing", "transformation", "machine learning")
    in_batches_only: ClassVar[str] = (
        "Spark's real-time mode has no state of the kind that windows of 500 records need"
    )

    perplexity: WholeNumber = Field(default=30, ge=2, lt=WINDOW)

    @property
    def inputs(self) -> Mapping[str, Input]:
        return {"sensors": self.sensor_stream(1)}

    def on_spark(self, sensors: DataFrame) -> DataFrame:
        from pyspark.sql.streaming.state import GroupStateTimeout

        perplexity = float(self.perplexity)

        def collect(
            _: tuple[int], batches: Iterator[pd.DataFrame], state: Any
        ) -> Iterator[pd.DataFrame]:
            """The records of a window wait until it is complete."""
            before = [pickle.loads(state.get[0])] if state.exists else []
            window = pd.concat([*before, *batches], ignore_index=True)
            if len(window) < WINDOW:
                state.update((pickle.dumps(window),))
                return
            state.remove()
            yield outliers(window, lambda points: outlier_probabilities(points, perplexity))

        return (
            _windowed(sensors, whole_record())
            .groupBy("window")
            .applyInPandasWithState(
                collect, _RESULTS, _STATE, "append", GroupStateTimeout.NoTimeout
            )
        )

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """By the bisection itself."""
        from pyspark.sql import functions as F  # noqa: N812

        perplexity = float(self.perplexity)

        def find(window: pd.DataFrame) -> pd.DataFrame:
            return outliers(
                window, lambda points: reference_probabilities(points, perplexity, ROUNDS)
            )

        log = _windowed(log_of(spark, replay, "sensors"), F.col(RECORD))
        complete = log.groupBy("window").count().where(f"count = {WINDOW}").select("window")
        return log.join(complete, "window").groupBy("window").applyInPandas(find, _RESULTS)


def _windowed(sensors: DataFrame, record: Column) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    return sensors.select(
        F.floor(F.col(NUMBER) / WINDOW).alias("window"),
        NUMBER,
        field(MF01).cast("bigint").alias("mf01"),
        field(MF02).cast("bigint").alias("mf02"),
        record.alias(RECORD),
        F.col(EVENT_TIME).alias("time"),
    )


def outliers(window: pd.DataFrame, probabilities: Probabilities) -> pd.DataFrame:
    """Record, comma and probability of each outlier, with the time of the last record."""
    window = window.sort_values(NUMBER)
    points = window[["mf01", "mf02"]].to_numpy(np.float64)
    found = probabilities(points)
    chosen = found >= LEAST
    texts = [
        f"{record},{probability:.2f}"
        for record, probability in zip(window[RECORD][chosen], found[chosen], strict=True)
    ]
    latest = window["time"].max()
    return pd.DataFrame(
        {NUMBER: window[NUMBER][chosen].to_numpy(), RECORD: texts, LATEST_EVENT_TIME: latest}
    )
