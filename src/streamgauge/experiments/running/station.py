"""What the trials of a run share: the system, as long as its settings stay, and the calculation.

A system that stays is warm, so a trial or a probe costs seconds instead of a start. Every trial
has driver instances, a sink, a query and a checkpoint of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from streamgauge.compute.java import find_java
from streamgauge.compute.session import spark_env
from streamgauge.experiments.planning.plan import Plan
from streamgauge.measure.calculate import CalculationConfig, CalculationWork, Findings
from streamgauge.processes.component import LARGE_ARRAYS, Component, module_argv
from streamgauge.processes.guard import Guard
from streamgauge.systems.base import System, SystemContext

CALCULATION_TIMEOUT_S = 1_800.0

Tell = Callable[[str], None]


class Station:
    """Use as a context: whatever was started inside is gone afterwards."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._guard = Guard()
        self._services = ExitStack()
        self._settings: System | None = None
        self._system: Component | None = None
        self._warm = False
        self._calculation: Component | None = None
        self._numbers = 0
        self.nodes: Mapping[str, int] = {}
        """Processes of the system besides its program, such as the workers of a cluster."""

    def __enter__(self) -> Station:
        self._guard.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop_system()
            if self._calculation is not None:
                self._calculation.stop()
        finally:
            self._guard.__exit__()

    @property
    def scratch(self) -> Path:
        return self._guard.scratch

    @property
    def env(self) -> dict[str, str]:
        return self._guard.env

    def next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def system(self, plan: Plan, tell: Tell) -> Component:
        """The running system of these settings; started when it is not there yet."""
        if self._system is not None and self._runs(plan.system):
            return self._system
        self.stop_system()
        tell("starting the system")
        timeout_s = plan.experiment.timeouts.start / 1e6
        scratch = self.scratch / f"system-{self.next_number()}"
        scratch.mkdir()
        context = SystemContext(scratch=scratch, logs=self._logs, env=self.env)
        ready, self.nodes = self._services.enter_context(plan.system.prepared(context))
        self._settings = plan.system
        system = self._system = ready.launch(context)

        def meanwhile() -> None:
            tell(str(system.latest.get("phase", {}).get("name", "starting the system")))

        system.wait_for("up", timeout_s, meanwhile=meanwhile)
        return system

    def is_warm(self, settings: System) -> bool:
        return self._warm and self._runs(settings)

    def warmed_up(self) -> None:
        """The system that runs now has been under load for a while."""
        self._warm = True

    def _runs(self, settings: System) -> bool:
        return self._system is not None and self._settings == settings and self._system.alive

    def stop_system(self) -> None:
        """The next trial starts a new one."""
        if self._system is not None:
            self._system.stop()
        self._services.close()
        self._system, self._settings, self._warm, self.nodes = None, None, False, {}

    def calculate(self, work: CalculationWork, master: str, tell: Tell) -> Findings:
        """Latency and validity of a trial, on Spark."""
        if self._calculation is None:
            self._calculation = self._start_calculation(master)
        calculation = self._calculation

        def meanwhile() -> None:
            tell(str(calculation.latest.get("phase", {}).get("name", "")))

        calculation.send("calculate", work=work.model_dump(mode="json"))
        try:
            done = calculation.wait_for("finished", CALCULATION_TIMEOUT_S, meanwhile=meanwhile)
        except Exception:
            calculation.stop()
            self._calculation = None
            raise
        return Findings.model_validate(done["findings"])

    def _start_calculation(self, master: str) -> Component:
        scratch = self.scratch / f"calculation-{self.next_number()}"
        scratch.mkdir()
        config = CalculationConfig(master=master, scratch=scratch)
        path = scratch / "calculation.json"
        path.write_text(config.model_dump_json())
        return Component(
            "the calculation",
            module_argv("streamgauge.measure.calculate", str(path)),
            log=self._logs / "measure.log",
            env={**LARGE_ARRAYS, **self.env, **find_java().env(scratch), **spark_env(master)},
        )
