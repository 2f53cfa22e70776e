"""What the trials of a run share: the system, as long as its settings stay, and the calculation.

A trial on a system that runs already costs seconds instead of a start. Every trial has an open
channel, a query and a checkpoint of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from pydantic import BaseModel

from streamgauge import plugins
from streamgauge.compute.java import find_java
from streamgauge.compute.session import spark_env
from streamgauge.errors import ExperimentError, StreamgaugeError
from streamgauge.experiments.planning.plan import Plan
from streamgauge.measure.calculate import CalculationConfig, CalculationWork, Findings
from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from streamgauge.processes.component import LARGE_ARRAYS, Component, module_argv
from streamgauge.processes.guard import Guard
from streamgauge.processes.launcher import Launcher
from streamgauge.processes.roles import RoleProcess
from streamgauge.processes.targets import Revived
from streamgauge.queries.own import QueryConfig
from streamgauge.references import revealed
from streamgauge.services.base import Service
from streamgauge.services.jars import have_jars
from streamgauge.services.standing import Standing, standing
from streamgauge.systems.base import System, SystemContext
from streamgauge.systems.running import RunningSystem

CALCULATION_TIMEOUT_S = 1_800.0

Tell = Callable[[str], None]


class Station:
    """A context: everything that was started inside is stopped at its end."""

    def __init__(
        self, logs: Path, warn: Tell = lambda _: None, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self.clock = clock
        self._logs = logs
        self._warn = warn
        self._guard = Guard()
        self._guarded = True
        self._started: tuple[System, str] | None = None
        self._running: RunningSystem | None = None
        self._warm = False
        self._services: dict[str, Service | Standing] = {}
        self._own_services = ExitStack()
        self._prepared: set[tuple[str, str, str]] = set()
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
            self._own_services.close()
        finally:
            self.check_guard()
            self._guard.__exit__()

    def check_guard(self) -> None:
        """Warns, once, if the guard has died."""
        if self._guarded and not self._guard.alive:
            self._guarded = False
            self._warn(
                "the guard, which cleans up after a run, has died; the run cleans up by itself, "
                "unless it is killed: then `streamgauge clean` removes what is left"
            )

    @property
    def scratch(self) -> Path:
        return self._guard.scratch

    @property
    def launcher(self) -> Launcher:
        return Launcher(self._guard.env)

    def next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def start_module(
        self, logs: Path, name: str, module: str, config: BaseModel, *arguments: str
    ) -> Component:
        """Starts one of our modules with its configuration in a file that only we can read."""
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

    def service(self, name: str, tell: Tell) -> str:
        """The address of a service; started unless it is up, for this run or between runs."""
        if name not in self._services or not self._services[name].processes():
            self._services[name] = standing(name) or self._start_service(name, tell)
        return self._services[name].address

    def _start_service(self, name: str, tell: Tell) -> Service:
        found: type[Service] = plugins.load("services", name, key="services")
        return self._own_services.enter_context(
            found(
                folder=self._new_scratch(name),
                logs=self._logs,
                launcher=self.launcher,
                tell=tell,
                clock=self.clock,
            )
        )

    def query_of(self, plan: Plan, tell: Tell) -> QueryConfig:
        """The query with the addresses of its services; those without one are started.

        Each is prepared once for all trials of the same query, and reset before every one.
        """
        addresses = dict(plan.query_config.services)
        for name, service in plan.query.services.items():
            given = name in addresses
            if not given and service.kind is not None:
                addresses[name] = self.service(service.kind, tell)
            if name not in addresses:
                continue
            if given and not service.prepare_given:
                continue
            address = addresses[name]
            key = (plan.query_config.model_dump_json(), name, address)
            if service.prepare is not None and key not in self._prepared:
                tell(f"preparing {name}")
                self._call(service.prepare, "prepare", name, address)
                self._prepared.add(key)
            if service.reset is not None:
                tell(f"resetting {name}")
                self._call(service.reset, "reset", name, address)
        return plan.query_config.model_copy(update={"services": addresses})

    def _call(self, function: Callable[[str], None], step: str, name: str, address: str) -> None:
        try:
            function(revealed(address))
        except StreamgaugeError:
            raise
        except Exception as error:
            self.check_services()
            cause = f"`{step}` of the service `{name}` failed: {type(error).__name__}: {error}"
            raise ExperimentError("workload.query", cause, fix="correct that function") from error

    def check_services(self) -> None:
        """Fails if one has died; the error names it and its log."""
        for service in self._services.values():
            service.check()

    def service_processes(self) -> list[RoleProcess]:
        return [one for service in self._services.values() for one in service.processes()]

    def revived(self, process: RoleProcess) -> Revived | None:
        """The service of that process, if it is of this run: it can be started again."""
        for service in self._services.values():
            if isinstance(service, Service) and process in service.processes():
                return service
        return None

    def system(self, plan: Plan, tell: Tell) -> RunningSystem:
        """The running system; started if none with these settings runs."""
        if self._running is not None and self._runs(plan):
            return self._running
        self.stop_system()
        jars = plan.connector.jars
        found = have_jars(jars, self.launcher, tell, clock=self.clock) if jars else []
        tell("starting the system")
        context = SystemContext(
            jars=tuple(found),
            scratch=self._new_scratch("system"),
            logs=self._logs,
            launcher=self.launcher,
            timeout_s=plan.experiment.timeouts.start / 1e6,
            tell=tell,
        )
        self._running, self._started = plan.system.start(context), _started(plan)
        return self._running

    def is_warm(self, plan: Plan) -> bool:
        return self._warm and self._runs(plan)

    def mark_warm(self) -> None:
        self._warm = True

    def _runs(self, plan: Plan) -> bool:
        running = self._running
        return running is not None and self._started == _started(plan) and running.alive

    def stop_system(self) -> None:
        if self._running is not None:
            self._running.stop()
        self._running, self._started, self._warm = None, None, False

    def calculate(self, work: CalculationWork, master: str, tell: Tell) -> Findings:
        """Latency and validity of a trial, on Spark."""
        if self._calculation is None:
            self._calculation = self._start_calculation(master)
        calculation = self._calculation

        def meanwhile() -> None:
            self.check_guard()
            tell(str(calculation.latest.get("phase", {}).get("name", "")))

        calculation.send("calculate", work=work.model_dump(mode="json"))
        try:
            done = calculation.wait_for("finished", CALCULATION_TIMEOUT_S, meanwhile=meanwhile)
        except Exception:
            calculation.stop()
            self._calculation = None
            self.check_services()
            raise
        return Findings.model_validate(done["findings"])

    def _start_calculation(self, master: str) -> Component:
        scratch = self._new_scratch("calculation")
        path = scratch / "calculation.json"
        path.write_text(CalculationConfig(master=master, scratch=scratch).model_dump_json())
        return Component(
            "the calculation",
            module_argv("streamgauge.measure.calculate", str(path)),
            log=self._logs / "measure.log",
            launcher=self.launcher,
            env={**LARGE_ARRAYS, **find_java().env(scratch), **spark_env(master)},
        )

    def _new_scratch(self, name: str) -> Path:
        scratch = self.scratch / f"{name}-{self.next_number()}"
        scratch.mkdir()
        return scratch


def _started(plan: Plan) -> tuple[System, str]:
    """What a running system was started with: a JVM cannot load jars later."""
    return plan.system, plan.connector.jars
