"""Windows of the gaming queries: the parameters they share and the arithmetic of their oracles."""

from __future__ import annotations

from pydantic import Field, model_validator

from streamgauge.events.distributions import DistributionName
from streamgauge.events.gaming import GamingDataSet
from streamgauge.events.spec import DataSet
from streamgauge.queries.base import Query
from streamgauge.queries.replay import Replay
from streamgauge.units import SECOND_US, DurationUs, Share, WholeNumber

LONGEST_WAIT_US = 10 * SECOND_US
"""Nobody wants to wait a minute for the next full minute only to have whole windows."""


class WindowedQuery(Query):
    """A query over gaming events with windows of event time."""

    keys: WholeNumber = Field(default=1_000, ge=1, le=1 << 30, description="gem packs, and users")
    distribution: DistributionName = Field(default="normal", description="of keys")
    zipf_s: float = Field(default=1.0, gt=0, le=10, description="exponent of `zipf`")
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

    def data(self, *streams: str, selectivity: Share = 1.0) -> DataSet:
        return GamingDataSet.of(
            keys=self.keys,
            distribution=self.distribution,
            zipf_s=self.zipf_s,
            selectivity=selectivity,
            streams=streams,
        )

    @property
    def spark_window(self) -> tuple[str, str]:
        """Length and slide as Spark's `window` function wants them."""
        return f"{self.window} microseconds", f"{self.slide_us} microseconds"

    def window_starts(self, replay: Replay) -> list[int]:
        """The start, since 1970, of every window that can hold an event of the run."""
        first_event = replay.start_us - replay.load.disorder_us
        first = (first_event - self.window) // self.slide_us + 1
        last = (replay.frontier_us + replay.load.disorder_us) // self.slide_us
        return [number * self.slide_us for number in range(first, last + 1)]
