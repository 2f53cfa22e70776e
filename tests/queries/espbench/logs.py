"""The log of a broker after a small run of ESPBench, without a broker."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.channels.kafka.messages import encoded
from streamgauge.events.spec import BROKER_TIME, MESSAGE, MESSAGE_KEY, OFFSET, PARTITION
from streamgauge.queries.base import Query
from streamgauge.queries.replay import Replay
from tests.loads import load_of, whole_replay


def logged(
    query: Query,
    folder: Path,
    *,
    partitions: int = 1,
    rate_per_s: float = 1_000,
    seconds: float = 5,
) -> Replay:
    """Every event was appended 2 ms after it was due, in turn to the partitions."""
    sources = query.streams
    load = load_of(sources, rate_per_s=rate_per_s, seconds=seconds, instances=len(sources))
    streams = {
        name: one.model_copy(update={"clock": query.clocks[name]})
        for name, one in load.streams.items()
    }
    replay = whole_replay(load.model_copy(update={"streams": streams}))
    for name in sources:
        (instance,) = replay.load.instances_of(name)
        events = replay.built_load.feeds[instance].events
        batch = events.batch(0, replay.offered[instance], replay.start_us)
        values = encoded(batch, "lines")
        numbers = np.arange(len(values))
        times = batch.column("event_time").cast(pa.int64()).to_numpy() // 1_000 * 1_000 + 2_000
        table = pa.table(
            {
                MESSAGE: pa.array(values, pa.binary()).cast(pa.string()),
                MESSAGE_KEY: pa.nulls(len(values), pa.string()),
                BROKER_TIME: times,
                PARTITION: pa.array(numbers % partitions, pa.int32()),
                OFFSET: numbers // partitions,
            }
        )
        (folder / name).mkdir(parents=True)
        pq.write_table(table, folder / name / "part-00000.parquet")
    return Replay(replay.load, replay.start_us, replay.offered, folder)
