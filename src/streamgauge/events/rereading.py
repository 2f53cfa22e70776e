"""Lines that are read from a file again and again, as by a sender that keeps none in memory."""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_END = b"\n"


class LinesOnDisk:
    """A file of lines, without a name: it is gone when the process ends."""

    def __init__(self, lines: pa.ChunkedArray) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        texts = [line.encode() + _END for line in lines.to_pylist()]
        self._file.write(b"".join(texts))
        self._file.flush()
        self._begins = np.concatenate(([0], np.cumsum([len(text) for text in texts])))

    def read(self, rows: NDArray[np.int64]) -> pa.Array:
        """The lines with these numbers; each rising run of numbers is read at once."""
        borders = np.flatnonzero(np.diff(rows) < 0) + 1
        runs = [run for run in np.split(rows, borders) if len(run)]
        nothing = pa.array([], pa.string())
        return pa.concat_arrays([nothing, *(self._run(run) for run in runs)])

    def _run(self, rows: NDArray[np.int64]) -> pa.Array:
        first, last = int(rows[0]), int(rows[-1]) + 1
        begin, end = int(self._begins[first]), int(self._begins[last])
        text = os.pread(self._file.fileno(), end - begin, begin).decode()
        lines = pc.split_pattern(pa.array([text]), "\n").flatten()
        return lines.take(pa.array(rows - first))
