"""Windows of the gaming queries: the parameters they share, and results window by window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, model_validator

from streamgauge.compute.tasks import spread
from streamgauge.events.distributions import DistributionName
from streamgauge.events.gaming import GamingDataSet
from streamgauge.queries.base import Input, Query, Stream
from streamgauge.queries.replay import Replay
from streamgauge.units import SECOND_US, DurationUs, Share, WholeNumber

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LONGEST_WAIT_US = 10 * SECOND_US
"""Most time that a load waits for the start of a window."""
TIME = pa.timestamp("us", tz="UTC")


class WindowedQuery(Query):
    """A query over gaming events with windows of event time.

    `on_windows` is the implementation for systems that compute one window after the other: it takes
    the start of a window and the columns of its events, by the names of the streams.
    """

    results: ClassVar[pa.Schema]
    """Of the record batch that `on_windows` returns."""

    keys: WholeNumber = Field(default=1_000, ge=1, le=1 << 30, description="gem packs, and users")
    distribution: DistributionName = Field(default="normal", description="of keys")
    zipf_s: float = Field(default=1.0, gt=0, le=10, description="exponent of `zipf`")
    moves_every: WholeNumber = Field(
        default=0,
        ge=0,
        description="events of a driver instance after which other keys are frequent; 0: never",
    )
    window: DurationUs = Field(default=SECOND_US, ge=1_000, description="length of a window")
    slide: DurationUs | None = Field(default=None, ge=1_000, description="default: the length")

    @model_validator(mode="after")
    def _whole_milliseconds(self) -> WindowedQuery:
        if self.slide_us > self.window:
            raise ValueError("slide must not be longer than window")
        if self.window % 1_000 or self.slide_us % 1_000:
            raise ValueError("window and slide must be whole milliseconds")
        return self

    @property
    def oracle_is(self) -> str:
        return "independent"

    @property
    def slide_us(self) -> int:
        return self.slide if self.slide is not None else self.window

    @property
    def alignment_us(self) -> int:
        return min(self.slide_us, LONGEST_WAIT_US)

    def gaming_streams(
        self, *streams: str, reads: tuple[str, ...], selectivity: Share = 1.0
    ) -> dict[str, Input]:
        """Streams of the gaming data set, with the columns that the query reads."""
        data = GamingDataSet.of(
            keys=self.keys,
            distribution=self.distribution,
            zipf_s=self.zipf_s,
            moves_every=self.moves_every,
            selectivity=selectivity,
            streams=streams,
        )
        return {name: Stream(source.reading(reads)) for name, source in data.streams.items()}

    @property
    def spark_window(self) -> tuple[str, str]:
        """Length and slide as the arguments of Spark's `window` function."""
        return f"{self.window} microseconds", f"{self.slide_us} microseconds"

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """Each window by itself, with NumPy: `on_windows` for the regenerated events."""
        names = {name: tuple(source.schema.names[1:]) for name, source in self.streams.items()}
        fixed = self.fixed_inputs(lambda table: table)
        compute = self.implementation("windows")

        def results(starts: Iterator[int]) -> Iterator[pa.RecordBatch]:
            for start in starts:
                end = start + self.window
                events = {name: replay.between(name, start, end, names[name]) for name in names}
                yield compute(start_us=start, **events, **fixed)

        # Every window that can hold an event of every stream.
        first_event = replay.start_us - replay.load.disorder_us
        first = (first_event - self.window) // self.slide_us + 1
        last = replay.reached_us // self.slide_us
        starts = [number * self.slide_us for number in range(first, last + 1)]
        return spread(spark, starts, results, self.results)


def moments(times_us: NDArray[np.int64] | int, count: int | None = None) -> pa.Array:
    """Times since 1970 as timestamps; one time may be repeated `count` times."""
    return pa.array(times_us if count is None else np.full(count, times_us)).cast(TIME)
