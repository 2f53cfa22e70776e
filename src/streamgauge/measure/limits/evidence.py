"""The measurements that may show what limited a run."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.measure.limits.words import ratio
from streamgauge.measure.pulls import Pull
from streamgauge.measure.summary import OTHERS

_FULL = 95.0
"""Per cent of the machine's cores."""


class Evidence(BaseModel):
    """The measurements of a run from outside. 100 % of CPU is one core."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    cores: int = Field(ge=1, description="of the system: how many tasks it runs at a time")
    machine_cores: int = Field(ge=1)
    driver_instances: int = Field(ge=1)
    sustained: bool | None = None
    at_maximum: bool = Field(default=False, description="the rate is the maximum of a search")
    duration_s: float = Field(default=0.0, ge=0, description="length of the load")
    offered_per_s: float | None = None
    drained_per_s: float | None = None
    cpu_percent: dict[str, float] = Field(default={}, description="mean of each role")
    lag_p99_ms: float = Field(default=0.0, description="of the generator, the worst instance")
    max_lag_ms: float = Field(default=100.0, description="the largest lag that is allowed")
    queue_share: float = Field(default=0.0, description="longest queue as a share of q_a")
    event_time_p50_ms: float | None = None
    pulls: list[Pull] = []
    pause_s: float = Field(default=0.0, description="shortest time from one pull to the next")
    hottest_key_share: float | None = Field(default=None, ge=0, le=1)
    """Share of the events that have the most frequent key."""
    keyed_tasks: int | None = Field(default=None, ge=1)
    """The tasks among which the keys are divided; None: one per core."""
    network_mb_per_s: float | None = Field(default=None, description="received by the system")
    local: bool = Field(default=True, description="the system runs on this machine")

    @property
    def nothing_measured(self) -> bool:
        return (
            self.sustained is None
            and not (self.cpu_percent or self.pulls or self.lag_p99_ms)
            and self.event_time_p50_ms is None
        )

    @property
    def behind(self) -> bool:
        """Whether the system fell behind; without a verdict the rates and the queue decide."""
        if self.sustained is not None:
            return not self.sustained
        offered, drained = self.offered_per_s, self.drained_per_s
        slow = offered is not None and drained is not None and drained < 0.9 * offered
        return slow or self.queue_share >= 1

    @property
    def usable_cores(self) -> int:
        """The cores that can be busy at a time: on this machine not more than it has."""
        return min(self.cores, self.machine_cores) if self.local else self.cores

    @property
    def busy_tasks(self) -> int:
        """How many of the tasks with keys run at a time."""
        return min(self.usable_cores, self.keyed_tasks or self.usable_cores)

    @property
    def system_cpu(self) -> float | None:
        """CPU of the system, in per cent of one core; None: not measured."""
        return self.cpu_percent.get("system") if self.local else None

    @property
    def system_share(self) -> float | None:
        """CPU of the system as a share of its cores."""
        cpu = self.system_cpu
        return None if cpu is None else max(0.0, cpu / 100 / self.usable_cores)

    @property
    def own_cpu(self) -> float:
        """CPU of driver and sink."""
        return self.cpu_percent.get("driver", 0.0) + self.cpu_percent.get("sink", 0.0)

    @property
    def machine_is_full(self) -> bool:
        system = self.cpu_percent.get("system", 0.0)
        return system + self.own_cpu >= _FULL * self.machine_cores

    @property
    def others_cpu(self) -> float:
        """CPU of this machine that programs outside the run used."""
        return self.cpu_percent.get(OTHERS, 0.0)

    @property
    def lost_to_others(self) -> float:
        """Share of the system's cores that other programs had, on a machine without a free core."""
        used = self.system_cpu
        if used is None or used + self.own_cpu + self.others_cpu < _FULL * self.machine_cores:
            return 0.0
        whole = 100 * self.usable_cores
        return ratio(min(self.others_cpu, whole - used), whole)
