"""Random numbers with random access: a pure function of seed, name of the column and place.

As in `events.numbers` they are the raw integers of a counter-based generator (Philox), which NumPy
keeps the same between versions, and become values by integer arithmetic.
"""

from __future__ import annotations

import numpy as np
import xxhash
from numpy.typing import NDArray

from streamgauge.events.numbers import MASK

_PER_COUNT = 4
"""64-bit numbers that one step of Philox's counter gives."""


def draw(seed: int, name: str, first: int, last: int) -> NDArray[np.uint64]:
    """The random numbers of the places [first, last) of a column, 64 bits each."""
    skipped, offset = divmod(first, _PER_COUNT)
    philox = np.random.Philox(
        counter=np.array([skipped, 0, 0, 0], dtype=np.uint64),
        key=np.array([seed & MASK, xxhash.xxh3_64_intdigest(name.encode())], dtype=np.uint64),
    )
    return philox.random_raw(offset + max(last - first, 0))[offset:]


def below(numbers: NDArray[np.uint64], limit: int) -> NDArray[np.int64]:
    """Whole numbers from 0 up to the limit, without it, made of the upper half of each number."""
    return (((numbers >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32)).astype(np.int64)


def whole(seed: int, name: str, first: int, last: int, low: int, high: int) -> NDArray[np.int64]:
    """Whole numbers from low to high, both included."""
    return low + below(draw(seed, name, first, last), high - low + 1)
