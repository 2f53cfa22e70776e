"""Spark's real-time mode as a system under test: records flow through long-running tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from streamgauge.channels.base import Connector
from streamgauge.measure.components import OwnParts
from streamgauge.queries.base import OutputMode, Query
from streamgauge.systems.base import Capability, never
from streamgauge.systems.running import Diagnostics
from streamgauge.systems.spark.system import SparkBase, SparkSystem
from streamgauge.units import DurationUs


class SparkRealTimeSystem(SparkBase):
    """The same queries in Spark's real-time mode, from topics to a topic, in update mode."""

    connectors: ClassVar[Mapping[str, Connector]] = {"kafka": SparkSystem.connectors["kafka"]}
    output_modes: ClassVar[tuple[OutputMode, ...]] = ("update",)
    # All tasks of all stages run at the same time: one slot for each partition of the topics and
    # of the shuffle.
    default_master: ClassVar[str] = "local[8]"
    micro_batches: ClassVar[bool] = False

    batch: DurationUs = Field(
        default=300_000_000, description="length of a batch; at its end offsets are committed"
    )

    @classmethod
    def can_run(cls, query: Query) -> Capability:
        found = super().can_run(query)
        if found and query.in_batches_only:
            return never(query.in_batches_only)
        if found and len(query.streams) > 1:
            return never("Spark's real-time mode has no join of two streams")
        return found

    def own_parts(self, diagnostics: Diagnostics, rate_per_s: float) -> OwnParts:  # noqa: ARG002
        """Records are neither gathered nor scheduled; what one takes is not reported."""
        return OwnParts(wait_ms=0.0, schedule_ms=0.0)

    @property
    def keyed_tasks(self) -> int:
        return self.shuffle_partitions or 2

    @property
    def trigger_arguments(self) -> dict[str, str]:
        return {"realTime": f"{self.batch // 1_000} milliseconds"}

    def settings(self) -> dict[str, str]:
        return {
            "spark.sql.streaming.stateStore.providerClass": (
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
            ),
            "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
            "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
            # The setting that decides on the latency of a query with a shuffle; Spark's default
            # is 50 ms.
            "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "5",
            **super().settings(),
        }
