"""The settings of the simulated system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from streamgauge.channels.base import Connector
from streamgauge.measure.guarantee import AT_LEAST_ONCE, EXACTLY_ONCE
from streamgauge.processes.component import Component, module_argv
from streamgauge.queries.base import Query
from streamgauge.queries.gaming.windows import WindowedQuery
from streamgauge.systems.base import YES, Capability, System, SystemContext, never, not_yet
from streamgauge.systems.running import RunningProgram, RunningSystem
from streamgauge.systems.simulated.windows import KIND
from streamgauge.units import SECOND_US, Count, DurationUs, Share, WholeNumber
from streamgauge.version import __version__


class SimulatedSystem(System):
    """Pulls at most as fast as its capacity and computes the results window by window."""

    kind: ClassVar[str] = KIND
    connectors: ClassVar[Mapping[str, Connector]] = {
        "direct": Connector(
            "streamgauge.systems.simulated.direct:DirectConnector",
            source="Arrow Flight from the driver's queues",
            sink="Arrow Flight to the driver's sink",
            guarantee=AT_LEAST_ONCE,
            guarantee_by_name=EXACTLY_ONCE,
        )
    }
    powers: ClassVar[Mapping[str, Capability]] = {
        "kill": YES,
        "pause": YES,
        "restart": YES,
        "scale": never("it is one process"),
    }

    capacity: Count = Field(default=1e9, gt=0, description="events per second it can take")
    latency: DurationUs = Field(default=0, description="added to every result")
    pause_every: DurationUs = Field(default=0, description="time between two pauses; 0 s: none")
    pause: DurationUs = Field(default=0, description="length of a pause")
    lose: Share = Field(default=0.0, description="share of results that it loses")
    double: Share = Field(default=0.0, description="share of results that it sends twice")
    falsify: Share = Field(
        default=0.0, description="share of results wrong in the 6th digit, or by one"
    )
    delay: Share = Field(default=0.0, description="share of results held back until it is stopped")
    checkpoint: DurationUs = Field(
        default=SECOND_US, description="how often it saves its state, from which it restarts"
    )
    reload: DurationUs = Field(default=0, description="time from its restart to its first input")
    lose_at_restart: WholeNumber = Field(
        default=0, ge=0, description="results that it loses after a restart"
    )
    double_at_restart: WholeNumber = Field(
        default=0, ge=0, description="results that it sends twice after a restart"
    )
    drop: bool = Field(default=False, description="drops a connection half-way through the load")

    @classmethod
    def can_run(cls, query: Query) -> Capability:
        if query.output_mode != "append":
            return not_yet("it only appends")
        if KIND in query.kinds and not isinstance(query, WindowedQuery):
            return not_yet("it only runs subclasses of WindowedQuery, with `window` and `slide`")
        return super().can_run(query)

    def start(self, context: SystemContext) -> RunningSystem:
        path = context.scratch / "simulated-system.json"
        path.write_text(self.model_dump_json())

        def launch() -> Component:
            return Component(
                "the simulated system",
                module_argv("streamgauge.systems.simulated.program", str(path)),
                log=context.logs / "simulated.log",
                launcher=context.launcher,
            )

        return RunningProgram(launch, context.timeout_s, context.tell)

    def versions(self) -> dict[str, str]:
        return {"simulated": __version__}
