"""What flows: the streams of a workload and the columns of their events."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, field_validator

from streamgauge.events.columns import Column

EVENT_TIME = "event_time"
"""Every event has this column: the time at which the schedule says that it happened."""


class StreamSpec(BaseModel):
    """The columns of one stream, besides the event time that every event has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: Mapping[str, Column] = Field(min_length=1)

    @field_validator("columns")
    @classmethod
    def _event_time_is_ours(cls, columns: Mapping[str, Column]) -> Mapping[str, Column]:
        if EVENT_TIME in columns:
            raise ValueError(f"a column cannot be called {EVENT_TIME}: every event has it already")
        return columns

    @property
    def schema(self) -> pa.Schema:
        """No event lacks a value, which spares Spark the checks."""
        types = {EVENT_TIME: pa.timestamp("us", tz="UTC")}
        types |= {name: column.arrow_type for name, column in self.columns.items()}
        return pa.schema([pa.field(name, kind, nullable=False) for name, kind in types.items()])


class DataSet(BaseModel):
    """Named streams; the order of the names is the order of a query's arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    streams: Mapping[str, StreamSpec] = Field(min_length=1)


def event_spec(**columns: Column) -> DataSet:
    """A data set of one stream, called `events`, with the user's own columns."""
    return DataSet(streams={"events": StreamSpec(columns=columns)})
