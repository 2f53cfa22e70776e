"""Which event makes the next result, for queries to which few events matter.

Between two results nobody behind a broker can see what a system has processed. Where events make
results one by one, the silence up to the next of them is no backlog.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from streamgauge.driver.config import Load
from streamgauge.events.stream import BLOCK
from streamgauge.queries.base import Query

_BLOCKS_KEPT = 64


class NextResults:
    """Finds the events of a load that make results, a block at a time."""

    def __init__(self, query: Query, load: Load) -> None:
        self._query = query
        self._load = load
        self._known = all(self._hits(n, 0, 1) is not None for n in range(load.instances))
        self._in_block = lru_cache(_BLOCKS_KEPT)(self._places)

    def after(self, instance: int, taken: int, offered: int) -> int:
        """The first event from `taken` on that makes a result, and at most `offered`.

        `taken` itself if the query does not tell which events make results.
        """
        if not self._known:
            return taken
        for block in range(taken // BLOCK, -(-offered // BLOCK)):
            places = self._in_block(instance, block)
            place = int(np.searchsorted(places, taken))
            if place < len(places):
                return min(int(places[place]), offered)
        return max(taken, offered)

    def _places(self, instance: int, block: int) -> NDArray[np.int64]:
        last = min((block + 1) * BLOCK, self._load.feeds[instance].times.total)
        hits = self._hits(instance, block * BLOCK, last)
        assert hits is not None
        return np.flatnonzero(hits) + block * BLOCK

    def _hits(self, instance: int, first: int, last: int) -> NDArray[np.bool_] | None:
        feed = self._load.feeds[instance]
        return self._query.makes_result(feed.stream, feed.events.batch(first, last))
