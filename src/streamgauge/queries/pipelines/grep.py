"""Grep: the lines that a regular expression matches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from streamgauge.compute.tasks import spread
from streamgauge.dual.pipeline import Operation
from streamgauge.events.prose import MARK
from streamgauge.events.sources import LINE, NUMBER
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import EVENT, Input, ResultShape
from streamgauge.queries.pipelines.text import ZIPF, LinesQuery, by_line
from streamgauge.queries.replay import Replay, Slice
from streamgauge.units import Share

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MARKED = rf"\b{MARK}\b"
_RESULTS = pa.schema(
    [
        (NUMBER, pa.int64()),
        (LINE, pa.string()),
        (LATEST_EVENT_TIME, pa.timestamp("us", tz="UTC")),
    ]
)
_FOUND = f"{NUMBER} bigint, {LINE} string, {LATEST_EVENT_TIME} timestamp, {EVENT} bigint"


class GrepQuery(LinesQuery):
    """The lines in which a regular expression is found, each once, without state."""

    pattern: str = Field(
        default=_MARKED, description="regular expression, in syntax that Java and Python share"
    )
    share: Share = Field(default=0.1, description="of lines of `zipf` that the default matches")

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
        return pattern

    @model_validator(mode="after")
    def _can_be_found(self) -> GrepQuery:
        if self.text != ZIPF and self.pattern == _MARKED:
            raise ValueError("the default pattern is for the text `zipf`; give a `pattern`")
        return self

    @property
    def inputs(self) -> Mapping[str, Input]:
        marked = self.share if self.pattern == _MARKED else 0.0
        return {"sentences": self.lines_stream(numbered=True, marked=marked)}

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=(NUMBER,), single=True)

    def operations(self, **fixed: Any) -> Sequence[Operation]:  # noqa: ARG002
        return (Operation("match", self._match),)

    def _match(self, events: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        found = events.where(F.col(LINE).rlike(self.pattern))
        return found.select(NUMBER, LINE, F.col(EVENT_TIME).alias(LATEST_EVENT_TIME))

    def makes_result(self, stream: str, events: pa.RecordBatch) -> NDArray[np.bool_]:  # noqa: ARG002
        return _matches(events, self.pattern)

    def prefixes(self, **streams: DataFrame) -> DataFrame:
        pattern = self.pattern

        def found(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                matching = batch.filter(pa.array(_matches(batch, pattern)))
                columns = matching.select([NUMBER, LINE, EVENT_TIME, EVENT]).columns
                yield pa.record_batch(columns, [NUMBER, LINE, LATEST_EVENT_TIME, EVENT])

        return streams[self.stream].mapInArrow(found, _FOUND)

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """Every different line is searched once, by Python's regular expressions."""
        pattern = self.pattern

        def found(slices: Iterator[Slice]) -> Iterator[pa.RecordBatch]:
            for part in slices:
                batch = replay.batch(part)
                matching = batch.filter(pa.array(_matches(batch, pattern)))
                columns = matching.select([NUMBER, LINE, EVENT_TIME]).columns
                yield pa.record_batch(columns, schema=_RESULTS)

        return spread(spark, replay.slices(self.stream), found, _RESULTS)


def _matches(events: pa.RecordBatch, pattern: str) -> NDArray[np.bool_]:
    search = re.compile(pattern).search
    found, which = by_line(events.column(LINE), lambda line: search(line) is not None)
    return np.array(found, dtype=np.bool_)[which]
