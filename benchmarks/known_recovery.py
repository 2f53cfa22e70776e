"""What the simulated system knows of its own recovery, for tests and benchmarks."""

from __future__ import annotations

import json
from typing import Any

from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.measure.record import RunRecord
from streamgauge.parts import read_parts


def known_ms(directory: RunDirectory) -> dict[str, float]:
    """Reload, replay and outage of its first restart, in milliseconds.

    It was where it had been when it had taken what the driver had handed over before the fault.
    """
    record = RunRecord.model_validate_json(directory.record.read_text())
    began_us = record.faults[0].began_us or 0
    position_us = 0
    for number in range(record.load.instances):
        handed = read_parts(directory.driver(number) / "handovers")
        assert handed is not None
        for row in handed.to_pylist():
            if row["handed_us"] < began_us:
                position_us = max(position_us, row["until_us"])
    said: dict[str, Any] = {}
    for line in map(json.loads, directory.events.read_text().splitlines()):
        said |= line["said"] if line["event"] == "system" else {}
    back_us = next(at_us for until_us, at_us in said["pulls"] if until_us >= position_us)
    fault_us = record.start_us + began_us
    return {
        "reload": (said["reloaded_us"] - fault_us) / 1e3,
        "replay": (back_us - said["reloaded_us"]) / 1e3,
        "outage": (said["delivered_us"] - fault_us) / 1e3,
    }
