"""Random texts of random length: slices of one long random text."""

from __future__ import annotations

import string
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from streamgauge.events.factory.draws import below, draw

ALPHANUMERIC = string.ascii_letters + string.digits
LETTERS = string.ascii_uppercase
DIGITS = string.digits
_POOL = 1 << 20
"""Places at which a text may begin."""
_LONGEST = 1024


def texts(
    seed: int,
    name: str,
    first: int,
    last: int,
    *,
    length: tuple[int, int],
    alphabet: str = ALPHANUMERIC,
) -> pa.Array:
    """The texts of the places [first, last) of a column, from the least to the greatest length."""
    return joined(*characters(seed, name, first, last, length=length, alphabet=alphabet))


def characters(
    seed: int,
    name: str,
    first: int,
    last: int,
    *,
    length: tuple[int, int],
    alphabet: str = ALPHANUMERIC,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """A row of characters for each text, as long as the longest may be, and the lengths."""
    low, high = length
    drawn = draw(seed, name, first, last)
    begins = (drawn & np.uint64(_POOL - 1)).astype(np.int64)
    rows = sliding_window_view(_pool(seed, alphabet), high)[begins]
    return rows, low + below(drawn, high - low + 1)


def joined(rows: NDArray[np.uint8], lengths: NDArray[np.int64]) -> pa.Array:
    """A column of texts: of each row as many characters as its length says."""
    used = rows if (lengths == rows.shape[1]).all() else rows[_inside(rows, lengths)]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(used.tobytes())]
    return pa.Array.from_buffers(pa.string(), len(lengths), buffers)


def _inside(rows: NDArray[np.uint8], lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = np.arange(rows.shape[1]) < lengths[:, None]
    return inside


@lru_cache(maxsize=8)
def _pool(seed: int, alphabet: str) -> NDArray[np.uint8]:
    """The long random text, made once per process."""
    drawn = below(draw(seed, f"texts.{alphabet}", 0, _POOL + _LONGEST), len(alphabet))
    return np.frombuffer(alphabet.encode("ascii"), dtype=np.uint8)[drawn]
