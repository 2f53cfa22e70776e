"""The typed figures of the recovery from faults, in `summary.json`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Figures(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecoveryTimes(_Figures):
    """Times from the moment of the fault, unless they say otherwise; None: never, or not seen."""

    detection_ms: float | None = Field(
        default=None, description="until the supervisor noticed that the program was dead"
    )
    outage_ms: float | None = Field(
        default=None,
        description="the first time without results that was longer than usual, from the fault on",
    )
    reload_ms: float | None = Field(default=None, description="until it took input again")
    replay_ms: float | None = Field(
        default=None, description="from then until it was where it had been before the fault"
    )
    catch_up_ms: float | None = Field(
        default=None, description="from the first result until its backlog was as before the fault"
    )
    throughput_back_ms: float | None = Field(
        default=None, description="until it kept up with what was offered, and went on so"
    )
    p99_back_ms: float | None = Field(
        default=None, description="until the latency was in its band again, and stayed there"
    )
    recovery_ms: float | None = Field(
        default=None, description="the later of these two; None: it did not recover within the run"
    )
    longest_gap_ms: float | None = Field(default=None, description="longest time without a result")
    backlog_max: int | None = Field(default=None, description="events that waited, at most")
    catch_up_per_s: float | None = Field(
        default=None, description="events per second that it took while it caught up"
    )
    late_results: int | None = Field(
        default=None, description="results whose latency was above the band of the time before"
    )


class FaultRecovery(RecoveryTimes):
    """One fault, and how the system recovered from it."""

    name: str = Field(description="fault and target, such as `kill executor`")
    victim: str = ""
    at_s: float = Field(description="time of the load")
    until_s: float | None = Field(default=None, description="when a fault that lasts was over")
    done: bool = True
    recovered: bool = False
    failed: str = Field(default="", description="why it could not be done, or undone")
    band_ms: float | None = Field(default=None, description="highest p99 before it, and a tenth")
    seen_in: str = Field(
        default="", description="what shows reload and replay: pulls, or the frontier of results"
    )
    cpu_percent: float | None = Field(default=None, description="of the system until it recovered")
    cpu_percent_before: float | None = None


class Recovery(RecoveryTimes):
    """All faults of a trial: the worst of each figure, and each fault by itself."""

    faults: list[FaultRecovery] = []
    not_recovered: int = Field(default=0, description="faults that the system did not recover from")
    restarts: int = Field(default=0, description="of the program")
    guarantee_shown: str = Field(
        default="", description="exactly once, at least once, at most once, or less"
    )
    guarantee_claimed: str = Field(default="", description="empty: none is claimed")
