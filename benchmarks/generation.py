"""How fast one core makes gaming events, and columns of every kind."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

import numpy as np

from benchmarks.results import Figure
from streamgauge import Choice, Flag, Json, Keys, Object, Real, StreamSpec, Time, Uuid, Whole, Words
from streamgauge.driver.schedules.instance import InstanceSchedule
from streamgauge.driver.schedules.rates import constant
from streamgauge.events.columns import Column
from streamgauge.events.gaming import GamingDataSet
from streamgauge.events.sources import EventSource
from streamgauge.events.stream import BLOCK, EventStream

BLOCKS = 40
ROUNDS = 7
WORDS = 10


def measure_generation(_: Path) -> Iterator[Figure]:
    """Generation of gaming events, one core, with event times and fingerprint."""
    ours = _blocks(GamingDataSet.of().streams["purchases"])

    def plain(block: int) -> None:
        """The same number of values from NumPy alone: two normal and two uniform columns."""
        generator = np.random.Generator(np.random.Philox(block))
        generator.standard_normal(2 * BLOCK, dtype=np.float32)
        generator.integers(0, 1_000, 2 * BLOCK, dtype=np.int32)

    rates = [(_rate(ours), _rate(plain)) for _ in range(ROUNDS)]
    typical = statistics.median(rate for rate, _ in rates)
    ratio = statistics.median(own / other for own, other in rates)
    yield Figure(
        "million events per second and core (median of rounds)", typical / 1e6, "M/s", least=10
    )
    yield Figure("ratio to NumPy drawing bare columns (median of rounds)", ratio, "×")


def measure_columns(_: Path) -> Iterator[Figure]:
    """Columns of other kinds beside columns of numbers and choices, one core."""
    states = ("ok", "warm", "hot")
    place: dict[str, Column] = {"key": Keys(size=1_000), "at": Real(low=0, high=100)}
    choice, whole = {"it": Choice(values=states)}, {"it": Whole(low=0, high=999)}
    weighted = {"it": Choice(values=states, weights=(0.9, 0.09, 0.01))}
    texts = {"it": Words(low=WORDS, high=WORDS)}
    yield _beside("a choice with weights / a choice", weighted, choice, least=0.7)
    yield _beside("a flag / a whole number", {"it": Flag()}, whole, least=0.7)
    day = {"it": Time(low=datetime(2024, 1, 1), high=datetime(2024, 1, 2))}
    yield _beside("a time / a whole number", day, whole, least=0.7)
    yield _beside("an id of its own for each event / a choice", {"it": Uuid()}, choice, least=0.25)
    yield _beside("one of 1,000 ids / a choice", {"it": Uuid(size=1_000)}, choice, least=0.25)
    yield _beside(f"a word of a text of {WORDS} / a choice", texts, choice, least=0.5, each=WORDS)
    yield _beside("an object / its columns alone", {"it": Object(columns=place)}, place, least=0.8)

    def dumps(block: int) -> None:
        for number in range(BLOCK):
            json.dumps({"key": block, "at": number / 100})

    ours = _blocks(StreamSpec(columns={"it": Json(columns=place)}))
    ratio = statistics.median(_rate(ours, 4) / _rate(dumps, 1) for _ in range(ROUNDS))
    yield Figure("JSON text / json.dumps event by event", ratio, "×", least=5)


def _beside(
    name: str,
    columns: Mapping[str, Column],
    others: Mapping[str, Column],
    least: float,
    each: int = 1,
) -> Figure:
    """How many of its values are made while one of the other columns is."""
    new, known = (_blocks(StreamSpec(columns=these)) for these in (columns, others))
    ratio = statistics.median(_rate(new) * each / _rate(known) for _ in range(ROUNDS))
    return Figure(name, ratio, "×", least=least)


def _blocks(source: EventSource) -> Callable[[int], None]:
    """Makes a block of events with event times and fingerprint."""
    schedule = constant(duration_us=3_600_000_000, rate_per_s=1_000_000)
    stream = EventStream(source, InstanceSchedule(schedule, 0, 2), seed=1, instance=0)

    def make(block: int) -> None:
        stream.batch_and_fingerprint(block * BLOCK, (block + 1) * BLOCK, 0)

    return make


def _rate(work: Callable[[int], None], blocks: int = BLOCKS) -> float:
    began = time.perf_counter()
    for block in range(blocks):
        work(block)
    return blocks * BLOCK / (time.perf_counter() - began)
