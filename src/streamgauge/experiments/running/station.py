"""What the trials of a run share: the system, as long as its settings stay, and the calculation.

A system that stays is warm, so a trial or a probe costs seconds instead of a start. Every trial
has an open channel, a query and a checkpoint of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel

from streamgauge.compute.java import find_java
from streamgauge.compute.session import spark_env
from streamgauge.experiments.planning.plan import Plan
from streamgauge.measure.calculate import CalculationConfig, CalculationWork, Findings
from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from streamgauge.processes.component import LARGE_ARRAYS, Component, module_argv
from streamgauge.processes.guard import Guard
from streamgauge.processes.launcher import Launcher
from streamgauge.systems.base import System, SystemContext
from streamgauge.systems.running import RunningSystem

CALCULATION_TIMEOUT_S = 1_800.0

Tell = Callable[[str], None]


class Station:
    """Use as a context: whatever was started inside is gone afterwards."""

    def __init__(self, logs: Path, clock: Clock = SYSTEM_CLOCK) -> None:
        self.clock = clock
        self._logs = logs
        self._guard = Guard()
        self._settings: System | None = None
        self._running: RunningSystem | None = None
        self._warm = False
        self._calculation: Component | None = None
        self._numbers = 0

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
    def launcher(self) -> Launcher:
        return Launcher(self._guard.env)

    def next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def starter(self, logs: Path) -> Callable[..., Component]:
        """Starts modules of ours with a config in a file that nobody else can read."""

        def start(name: str, module: str, config: BaseModel, *arguments: str) -> Component:
            short = name.replace("driver instance ", "driver-").replace(" ", "-")
            path = self.scratch / f"{short}.json"
            path.touch(mode=0o600)
            path.write_text(config.model_dump_json())
            return Component(
                name,
                module_argv(module, *arguments, str(path)),
                log=logs / f"{short}.log",
                launcher=self.launcher,
                env=LARGE_ARRAYS,
            )

        return start

    def system(self, plan: Plan, tell: Tell) -> RunningSystem:
        """The running system of these settings; started when it is not there yet."""
        if self._running is not None and self._runs(plan.system):
            return self._running
        self.stop_system()
        tell("starting the system")
        scratch = self.scratch / f"system-{self.next_number()}"
        scratch.mkdir()
        context = SystemContext(
            scratch=scratch,
            logs=self._logs,
            launcher=self.launcher,
            timeout_s=plan.experiment.timeouts.start / 1e6,
            tell=tell,
        )
        self._running, self._settings = plan.system.start(context), plan.system
        return self._running

    def is_warm(self, settings: System) -> bool:
        return self._warm and self._runs(settings)

    def warmed_up(self) -> None:
        """The system that runs now has been under load for a while."""
        self._warm = True

    def _runs(self, settings: System) -> bool:
        return self._running is not None and self._settings == settings and self._running.alive

    def stop_system(self) -> None:
        """The next trial starts a new one."""
        if self._running is not None:
            self._running.stop()
        self._running, self._settings, self._warm = None, None, False

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
            launcher=self.launcher,
            env={**LARGE_ARRAYS, **find_java().env(scratch), **spark_env(master)},
        )
