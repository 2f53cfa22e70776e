"""Lines that are read from disk again are those of the table."""

from __future__ import annotations

import numpy as np
import pytest

from streamgauge.driver.config import LoadConfig
from streamgauge.events.sources import LINE, NUMBER
from streamgauge.events.stream import BLOCK
from streamgauge.queries.espbench.ingestion import IngestionQuery
from tests.loads import load_of

ROWS = 1_000


def load(*, in_memory: bool, instances: int) -> LoadConfig:
    query = IngestionQuery(rows=ROWS, in_memory=in_memory)
    return load_of(query.streams, rate_per_s=BLOCK, seconds=2, instances=instances)


@pytest.mark.parametrize("instances", [1, 3])
@pytest.mark.parametrize(("first", "last"), [(0, 1), (10, 2 * ROWS + 7), (BLOCK - 5, BLOCK + 5)])
def test_a_block_from_disk_is_the_same(instances: int, first: int, last: int) -> None:
    last = min(last, 2 * BLOCK // instances)
    first = min(first, last - 1)
    for number in range(instances):
        batches = [
            load(in_memory=in_memory, instances=instances)
            .build_feed(number)
            .events.batch(first, last)
            for in_memory in (True, False)
        ]
        assert batches[0].equals(batches[1])
        numbers = batches[0].column(NUMBER).to_numpy()
        assert np.array_equal(numbers, np.arange(first, last) * instances + number)
        assert all(line.count("\t") == 56 for line in batches[1].column(LINE).to_pylist())


def test_how_the_lines_are_read_is_no_part_of_the_input() -> None:
    sources = [IngestionQuery(in_memory=one).streams["sensors"] for one in (True, False)]
    assert sources[0].meaning == sources[1].meaning
    assert sources[0] != sources[1]
