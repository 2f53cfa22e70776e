"""The dual-paradigm runtime as a system under test: its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from streamgauge.channels.base import Connector
from streamgauge.dual.settings import DualSettings
from streamgauge.dual.spark.session import SETTINGS
from streamgauge.queries.base import OutputMode, Query
from streamgauge.systems.base import Capability
from streamgauge.systems.spark.realtime import SparkRealTimeSystem
from streamgauge.systems.spark.system import SparkBase
from streamgauge.units import DurationUs


class DualSystem(SparkBase):
    """Spark, where each operation runs in real-time mode when calm, in micro-batches in a flood."""

    connectors: ClassVar[Mapping[str, Connector]] = {
        "kafka": SparkRealTimeSystem.connectors["kafka"]
    }
    output_modes: ClassVar[tuple[OutputMode, ...]] = ("update",)
    program: ClassVar[str] = "streamgauge.systems.dual.program"
    # As data streams all tasks of all segments run at the same time.
    default_master: ClassVar[str] = "local[16]"
    micro_batches: ClassVar[bool] = False

    cuts: Literal["auto", "every", "none"] | list[str] = Field(
        default="auto",
        description="between which operations records go through a topic: where they become few, "
        "between all, none, or behind those that are named",
    )
    hysteresis: float = Field(
        default=0.2, gt=0, lt=1, description="how far a queue must be beyond the limit of a switch"
    )
    minimum_stay: DurationUs = Field(default=10_000_000, description="in a paradigm")
    commit: DurationUs | None = Field(
        default=None,
        ge=1_000_000,
        description="between two commits of a data stream; default: by the load, 10 s to 5 min",
    )
    shortest_interval: DurationUs = Field(default=100_000, gt=0, description="of micro-batches")
    longest_interval: DurationUs = Field(default=5_000_000, gt=0, description="of micro-batches")
    fixed: bool = Field(default=False, description="whether no operation ever switches")

    @classmethod
    def can_run(cls, query: Query) -> Capability:
        """Every operation may have to run in real-time mode."""
        return SparkRealTimeSystem.can_run(query)

    @property
    def keyed_tasks(self) -> int:
        return self.shuffle_partitions or 2

    @property
    def trigger_arguments(self) -> dict[str, str]:
        """The runtime chooses them."""
        return {}

    @property
    def choice(self) -> DualSettings:
        return DualSettings(
            hysteresis=self.hysteresis,
            minimum_stay_s=self.minimum_stay / 1e6,
            commit_s=None if self.commit is None else self.commit / 1e6,
            shortest_interval_s=self.shortest_interval / 1e6,
            longest_interval_s=self.longest_interval / 1e6,
            fixed=self.fixed,
        )

    def settings(self) -> dict[str, str]:
        return {**SETTINGS, **super().settings()}
