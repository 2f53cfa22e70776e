"""Which operations a burst concerns.

Operations are counted from 1 along the chain. λ of an operation is records out per record in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def switch_range(
    magnifications: Sequence[float], burst: int, source_magnification: float = 1.0
) -> range:
    """The shortest range from operation p = `burst` on behind which the records are fewer again.

    It ends at the first q ≥ p with λ_{p−1} · … · λ_q < 1, and at the last operation if there is no
    such q. For λ = 8, 0.625, 1, 0.1 and a burst at 2 it is {2, 3, 4}. Operation p−1, which
    amplifies, is not in it: what it sends is shared out among all workers anyway. Before the first
    operation is the source; its λ is how many times as much as usual it delivers.
    """
    if not 1 <= burst <= len(magnifications):
        raise ValueError(f"there is no operation {burst}, only 1 to {len(magnifications)}")
    product = magnifications[burst - 2] if burst > 1 else source_magnification
    for position in range(burst, len(magnifications) + 1):
        product *= magnifications[position - 1]
        if product < 1:
            return range(burst, position + 1)
    return range(burst, len(magnifications) + 1)


def concerned(
    magnifications: Sequence[float], bursts: Iterable[int], source_magnification: float = 1.0
) -> dict[int, int]:
    """Of several bursts at once: each operation in a range, and the burst that it follows.

    Of several ranges that an operation is in, the burst nearest before it counts.
    """
    followed: dict[int, int] = {}
    for burst in sorted(set(bursts)):
        for position in switch_range(magnifications, burst, source_magnification):
            followed[position] = burst
    return followed
