"""The recovery of a trial from its faults, from the files of its run directory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.measure.gaps import Handed
from streamgauge.measure.guarantee import shown
from streamgauge.measure.record import RunRecord
from streamgauge.measure.recovery import Observed, recovery_of
from streamgauge.measure.recovery_figures import Recovery
from streamgauge.measure.summary import FaultWindow, Resources, Validation
from streamgauge.measure.throughput import totals
from streamgauge.parts import read_parts

LEAST_SHADED_S = 0.2


def recovery(
    directory: RunDirectory, record: RunRecord, validation: Validation, resources: Resources
) -> Recovery | None:
    """None of a run without faults."""
    if not record.faults:
        return None
    found = recovery_of(record.faults, _observed(directory, record, resources))
    return found.model_copy(
        update={
            "guarantee_claimed": record.claimed,
            "guarantee_shown": shown(validation, drained=record.drained, updates=record.updates),
        }
    )


def fault_windows(found: Recovery | None, end_s: float) -> list[FaultWindow]:
    """For the charts: each fault, until the system had recovered from it."""
    windows = []
    for fault in found.faults if found else ():
        if not fault.done:
            continue
        back_s = None if fault.recovery_ms is None else fault.at_s + fault.recovery_ms / 1e3
        until_s = max(back_s or (end_s if not fault.recovered else 0.0), fault.until_s or 0.0)
        shaded_s = max(until_s, fault.at_s + LEAST_SHADED_S)
        windows.append(FaultWindow(start_s=fault.at_s, end_s=shaded_s, label=fault.name))
    return windows


def _observed(directory: RunDirectory, record: RunRecord, resources: Resources) -> Observed:
    outputs, inputs = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    if directory.latencies.exists():
        table = pq.read_table(directory.latencies, columns=["output_us", "input_us"])
        outputs, inputs = (table.column(n).to_numpy() - record.start_us for n in (0, 1))
        order = np.argsort(outputs, kind="stable")
        outputs, inputs = outputs[order], inputs[order]
    numbers = range(record.load.instances)
    times, offered, drained = totals([read_parts(directory.driver(n) / "samples") for n in numbers])
    handed = [_handed(read_parts(directory.driver(number) / "handovers")) for number in numbers]
    used = resources.roles.get("system")
    return Observed(
        end_us=record.end_us,
        warm_up_us=record.warm_up_us,
        output_us=outputs,
        input_us=inputs,
        sample_us=times,
        offered=offered,
        drained=drained,
        handed=[one for one in handed if one is not None],
        cpu=(resources.time_s, used.cpu_percent) if used else ((), ()),
        deaths=record.deaths,
    )


def _handed(table: pa.Table | None) -> Handed | None:
    if table is None:
        return None
    at_us, until_us = (table.column(name).to_numpy() for name in ("handed_us", "until_us"))
    order = np.argsort(at_us, kind="stable")
    return Handed(at_us[order], until_us[order])
