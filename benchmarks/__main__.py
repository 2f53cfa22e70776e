"""Runs every benchmark and prints its figures beside what is asked of them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.channel import measure_channel
from benchmarks.generation import measure_generation
from benchmarks.results import Figure
from benchmarks.validation import measure_validation


def main() -> int:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="streamgauge-bench-") as folder:
        for measure in (measure_generation, measure_channel, measure_validation):
            print(f"\n{(measure.__doc__ or '').splitlines()[0]}", flush=True)
            for figure in measure(Path(folder)):
                print(f"  {figure}", flush=True)
                figures.append(figure)
    missed = [figure for figure in figures if not figure.met]
    print(f"\n{len(figures) - len(missed)} met, {len(missed)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
