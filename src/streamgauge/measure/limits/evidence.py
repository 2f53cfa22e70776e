"""Everything measured that may point at a limit."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.systems.spark.own_words import BatchWords


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Pull(_Facts):
    """How the system pulled one micro-batch, as the driver saw it; seconds since the load began."""

    start_s: float = Field(
        description="when it asked how far it may go; where that is not known, its first hand-over"
    )
    first_handed_s: float
    last_handed_s: float
    events: int | None = Field(default=None, description="None: nobody counted them")


class Evidence(_Facts):
    """What is known of a run. 100 % of CPU is one core."""

    cores: int = Field(ge=1, description="of the system: how many tasks it runs at a time")
    machine_cores: int = Field(ge=1)
    driver_instances: int = Field(ge=1)
    sustained: bool | None = None
    at_maximum: bool = Field(
        default=False, description="did a search find no more? Then something holds it back"
    )
    duration_s: float = Field(default=0.0, ge=0, description="length of the load")
    offered_per_s: float | None = None
    drained_per_s: float | None = None
    cpu_percent: dict[str, float] = Field(
        default={}, description="mean during the load of driver, system and sink"
    )
    lag_p99_ms: float = Field(default=0.0, description="of the generator, the worst instance")
    max_lag_ms: float = Field(default=100.0, description="what is allowed")
    queue_share: float = Field(default=0.0, description="longest queue as a share of q_a")
    trigger_s: float = Field(default=0.0, description="0: as soon as possible")
    event_time_p50_ms: float | None = None
    processing_time_p50_ms: float | None = None
    pulls: list[Pull] = []
    batches: list[BatchWords] = Field(default=[], description="Spark's own words, oldest first")
    hottest_key_share: float | None = Field(
        default=None, ge=0, le=1, description="of all events, known from their distribution"
    )
    state_store: str | None = None
    shuffle_partitions: int | None = Field(default=None, ge=1)
    network_mb_per_s: float | None = Field(default=None, description="over the channel")
    memory_mb: float | None = Field(default=None, description="what the system may take")
    local: bool = Field(
        default=True, description="does it run on this machine? CPU elsewhere is not seen"
    )

    @property
    def nothing_measured(self) -> bool:
        return (
            self.sustained is None
            and not (self.cpu_percent or self.pulls or self.batches or self.lag_p99_ms)
            and self.event_time_p50_ms is None
        )

    @property
    def behind(self) -> bool:
        """Did the system fall behind? Where nobody judged, the queue and the rates tell."""
        if self.sustained is not None:
            return not self.sustained
        offered, drained = self.offered_per_s, self.drained_per_s
        slow = offered is not None and drained is not None and drained < 0.9 * offered
        return slow or self.queue_share >= 1

    @property
    def is_spark(self) -> bool:
        """Do Spark's settings help?"""
        return bool(self.batches or self.shuffle_partitions or self.state_store)

    @property
    def usable_cores(self) -> int:
        """More tasks than the machine has cores do not make it faster."""
        return min(self.cores, self.machine_cores) if self.local else self.cores

    @property
    def parallel(self) -> int:
        """How many tasks work at a time after a shuffle."""
        return min(self.usable_cores, self.shuffle_partitions or self.usable_cores)

    @property
    def system_cpu(self) -> float | None:
        """CPU of the system, in per cent of one core, where it can be seen."""
        return self.cpu_percent.get("system") if self.local else None

    @property
    def system_share(self) -> float | None:
        """CPU of the system as a share of its cores."""
        cpu = self.system_cpu
        return None if cpu is None else max(0.0, cpu / 100 / self.usable_cores)

    @property
    def own_cpu(self) -> float:
        """CPU of the driver and the sink together."""
        return self.cpu_percent.get("driver", 0.0) + self.cpu_percent.get("sink", 0.0)

    @property
    def machine_is_full(self) -> bool:
        system = self.cpu_percent.get("system", 0.0)
        return system + self.own_cpu >= 95 * self.machine_cores
