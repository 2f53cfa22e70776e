"""Versions and machine, without which figures cannot be compared."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict

from streamgauge.measure.probes import probe
from streamgauge.systems.base import System
from streamgauge.version import __version__


class Environment(BaseModel):
    """`RUN/environment.json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    versions: dict[str, str]
    machine: dict[str, str | int | float]

    @classmethod
    def of(cls, system: System) -> Environment:
        return cls(
            versions={
                "streamgauge": __version__,
                **system.versions(),
                "python": platform.python_version(),
                **{name: version(name) for name in ("numpy", "pyarrow", "pandas")},
            },
            machine={
                "cpu": _cpu_name(),
                "cores": os.cpu_count() or 0,
                "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
                "os": f"{platform.system()} {platform.release()}",
                "architecture": platform.machine(),
            },
        )

    def with_limits(self, folder: Path) -> Environment:
        """With what was probed of loopback and disk; a broker of ours has its data in `folder`."""
        probed = probe(folder).model_dump(exclude_none=True)
        return self.model_copy(update={"machine": {**self.machine, **probed}})


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
