"""How well the recovery from a fault is found: against a system that knows its own.

The simulated system is killed under load and started again by the supervisor. It says itself when
it took input again, when it was where it had been, and when its first new result was delivered.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.known_recovery import known_ms
from benchmarks.results import Figure
from streamgauge.events.spec import ARRIVAL, LATEST_EVENT_TIME
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.planning.study import make_study
from streamgauge.experiments.running.log import LogFile, RunLog
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.running.trial import Trial
from streamgauge.experiments.summarising.recovery import recovery
from streamgauge.measure.recovery_figures import FaultRecovery
from streamgauge.measure.summary import Resources, Validation
from streamgauge.parts import read_parts

TRIALS = 20
NEAR_MS = 200.0
SEED = 19


def measure_recovery(folder: Path) -> Iterator[Figure]:
    """Recovery of a simulated system, found within 200 ms of what it knows itself."""
    found: dict[str, list[float]] = {"reload": [], "replay": [], "outage": []}
    with Station(folder) as station:
        for number in range(TRIALS):
            directory = RunDirectory.inside(folder / f"recovery-{number}")
            fault = _run(_plan(random.Random(f"{SEED} {number}")), directory, station)
            for name, truth_ms in known_ms(directory).items():
                seen = getattr(fault, f"{name}_ms")
                found[name].append(1e9 if seen is None else abs(seen - truth_ms))
    for name, errors in found.items():
        near = sum(error <= NEAR_MS for error in errors)
        yield Figure(f"{name} found within {NEAR_MS:.0f} ms", near, f"of {TRIALS}", least=TRIALS)
        yield Figure(f"largest error of {name}", max(errors), "ms")


def _plan(draw: random.Random) -> Plan:
    system = {
        "name": "simulated",
        "restart": {"when": "always", "back_off": f"{draw.randint(100, 1_500)} ms"},
        "reload": f"{draw.randint(0, 2_500)} ms",
        "checkpoint": f"{draw.randint(300, 3_000)} ms",
        "capacity": draw.randint(10_000, 30_000),
    }
    settings = {
        "system": json.dumps(system),
        "channel": "{name: direct, sink: idempotent}",
        "workload.keys": 50,
        "workload.window": f"{draw.choice((100, 200, 250))} ms",
        "load.rate": 5_000,
        "load.seed": draw.randrange(1_000),
        "duration": "15 s",
        "warm_up": "1 s",
        "thresholds": "[]",
        "faults": f"[{{at: {draw.randint(4_000, 6_000)} ms, kill: program}}]",
    }
    words = [f"{key}={value}" for key, value in settings.items()]
    return make_study(*read_experiment("quickstart", words)).first_plan


def _run(plan: Plan, directory: RunDirectory, station: Station) -> FaultRecovery:
    log = RunLog(LogFile(directory.events))
    trial = Trial(plan, directory, station, log, lambda _: None)
    with trial.processes():
        trial.start()
        trial.measured_load()
        record = trial.close(drained=trial.drain())
    directory.write(directory.record, record)
    results = read_parts(directory.results)
    assert results is not None
    inputs = results.column(LATEST_EVENT_TIME).cast(pa.int64())
    times = pa.table({"input_us": inputs, "output_us": results.column(ARRIVAL)})
    pq.write_table(times, directory.latencies)
    found = recovery(directory, record, Validation(), Resources())
    assert found is not None
    return found.faults[0]
