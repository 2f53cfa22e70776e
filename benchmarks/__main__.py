"""Runs every benchmark and prints its figures beside what is asked of them."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.channel import measure_channel
from benchmarks.generation import measure_columns, measure_generation
from benchmarks.kafka_sender import measure_sender
from benchmarks.outliers import measure_outliers
from benchmarks.recovery import measure_recovery
from benchmarks.results import Figure
from benchmarks.search import measure_search
from benchmarks.validation import measure_validation
from streamgauge.processes.component import LARGE_ARRAYS

MEASURES = (
    measure_generation,
    measure_columns,
    measure_search,
    measure_channel,
    measure_sender,
    measure_validation,
    measure_outliers,
    measure_recovery,
)


def main() -> int:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="streamgauge-bench-") as folder:
        for measure in MEASURES:
            print(f"\n{(measure.__doc__ or '').splitlines()[0]}", flush=True)
            for figure in measure(Path(folder)):
                print(f"  {figure}", flush=True)
                figures.append(figure)
    missed = [figure for figure in figures if not figure.met]
    print(f"\n{len(figures) - len(missed)} met, {len(missed)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    if not LARGE_ARRAYS.items() <= os.environ.items():
        # As the processes of a run have it; the allocator reads it when it starts.
        again = [sys.executable, "-m", "benchmarks", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, **LARGE_ARRAYS})
    sys.exit(main())
