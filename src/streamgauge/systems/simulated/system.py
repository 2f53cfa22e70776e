"""The settings of the simulated system."""

from __future__ import annotations

from pydantic import Field

from streamgauge.errors import ExperimentError
from streamgauge.processes.component import Component, module_argv
from streamgauge.queries.base import Query
from streamgauge.systems.base import System, SystemContext
from streamgauge.systems.simulated.program import Faults, SimulatedProgramConfig
from streamgauge.units import Count, DurationUs, Share
from streamgauge.version import __version__

ONLY_QUERY = "gaming.aggregation"


class SimulatedSystem(System):
    """Pulls at most as fast as its capacity and computes the windowed average by itself."""

    capacity: Count = Field(default=1e9, gt=0, description="events per second it can take")
    latency: DurationUs = Field(default=0, description="added to every result")
    pause_every: DurationUs = Field(default=0, description="time between two pauses; 0 s: none")
    pause: DurationUs = Field(default=0, description="length of a pause")
    lose: Share = Field(default=0.0, description="share of results that it loses")
    double: Share = Field(default=0.0, description="share of results that it sends twice")
    falsify: Share = Field(default=0.0, description="share of results wrong in the 6th digit")
    delay: Share = Field(default=0.0, description="share of results held back until it is stopped")
    drop: bool = Field(default=False, description="drops a connection half-way through the load")

    def check(self, query_name: str, query: Query) -> None:
        if query_name != ONLY_QUERY:
            raise ExperimentError(
                "workload.query",
                f"the simulated system does not know `{query_name}`",
                fix=f"use {ONLY_QUERY}, or another system",
            )
        if query.output_mode != "append":
            raise ExperimentError(
                "workload.output_mode", "the simulated system only appends", fix="leave it out"
            )

    def launch(self, context: SystemContext) -> Component:
        config = SimulatedProgramConfig(
            capacity_per_s=self.capacity,
            latency_us=self.latency,
            pause_every_us=self.pause_every,
            pause_us=self.pause,
            drop=self.drop,
            faults=Faults(
                lose=self.lose, double=self.double, falsify=self.falsify, delay=self.delay
            ),
        )
        path = context.scratch / "simulated-program.json"
        path.write_text(config.model_dump_json())
        return Component(
            "the simulated system",
            module_argv("streamgauge.systems.simulated.program", str(path)),
            log=context.logs / "simulated.log",
            env=context.env,
        )

    def versions(self) -> dict[str, str]:
        return {"simulated": __version__}

    def paths(self) -> tuple[str, str]:
        return "Arrow Flight from the driver's queues", "Arrow Flight to the driver's sink"
