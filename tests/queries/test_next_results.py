"""The next event that makes a result."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.events.sources import LINE
from streamgauge.events.stream import BLOCK
from streamgauge.queries.espbench.base import MF01, numbers
from streamgauge.queries.espbench.q3 import HIGHEST, ErrorsQuery
from streamgauge.queries.gaming.aggregation import AggregationQuery
from streamgauge.queries.next_results import NextResults
from tests.loads import load_of

QUERY = ErrorsQuery(rows=3_000)
LOAD = load_of(QUERY.streams, rate_per_s=30_000, seconds=5, instances=1).build()
TOTAL = LOAD.feeds[0].times.total
NEXT = NextResults(QUERY, LOAD)


@pytest.fixture(scope="module")
def hits() -> np.ndarray:
    lines = LOAD.feeds[0].events.batch(0, TOTAL).column(LINE)
    return np.flatnonzero(numbers(lines, MF01) > HIGHEST)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, TOTAL), st.integers(0, TOTAL))
def test_everything_up_to_the_next_result_counts_as_taken(
    hits: np.ndarray, one: int, other: int
) -> None:
    taken, offered = sorted((one, other))
    later = hits[hits >= taken]
    right = min(int(later[0]), offered) if len(later) else offered
    assert NEXT.after(0, taken, offered) == right
    assert TOTAL > 2 * BLOCK


def test_nothing_more_counts_where_the_events_are_not_known() -> None:
    query = AggregationQuery(keys=5)
    load = load_of(query.streams, instances=2).build()
    assert NextResults(query, load).after(1, 10, 500) == 10
