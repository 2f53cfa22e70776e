"""Random numbers with random access: a pure function of seed, driver instance, block and column.

They come from a counter-based generator (Philox) that is restarted for every block of 65,536 events
and every column; only its raw integers are used, which NumPy keeps the same between versions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16
MASK = (1 << 64) - 1
_PER_COUNT = 8
"""32-bit numbers that one step of Philox's counter gives."""


@dataclass(frozen=True)
class InstanceShare:
    """The events of a stream that one driver instance makes: number n is event n·parts + part."""

    seed: int
    instance: int
    part: int = 0
    parts: int = 1

    def random(
        self, block: int, column: int, low: int, high: int, numbers: int = 1
    ) -> NDArray[np.uint32]:
        """So many 32-bit random numbers for each of the events [low, high) of a block.

        Several numbers per event take the place of so many columns.
        """
        skipped, first = divmod(low * numbers, _PER_COUNT)
        wanted = first + (high - low) * numbers
        philox = np.random.Philox(
            counter=np.array(
                [column * (BLOCK // _PER_COUNT) + skipped, block, 0, 0], dtype=np.uint64
            ),
            key=np.array([self.seed & MASK, self.instance], dtype=np.uint64),
        )
        made = philox.random_raw((wanted + 1) // 2).astype("<u8", copy=False).view("<u4")
        return made[first:wanted]
