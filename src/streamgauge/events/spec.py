"""What flows: the streams of a workload and the columns of their events."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from streamgauge.events.columns import Column

EVENT_TIME = "event_time"
"""Every event has this column: the time at which the schedule says that it happened."""


class StreamSpec(BaseModel):
    """The columns of one stream, besides the event time that every event has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: Mapping[str, Column] = Field(min_length=1)
    reads: tuple[str, ...] | None = None
    """The columns that the query reads: no other is made. None: all."""

    @field_validator("columns")
    @classmethod
    def _event_time_is_ours(cls, columns: Mapping[str, Column]) -> Mapping[str, Column]:
        if EVENT_TIME in columns:
            raise ValueError(f"a column cannot be called {EVENT_TIME}: every event has it already")
        return columns

    @model_validator(mode="after")
    def _known_columns(self) -> StreamSpec:
        for name in self.reads or ():
            if name not in self.columns:
                raise ValueError(
                    f"the query reads {name!r}, the stream has {', '.join(self.columns)}"
                )
        return self

    def reading(self, names: tuple[str, ...] | None) -> StreamSpec:
        return StreamSpec(columns=self.columns, reads=names)

    @property
    def made(self) -> dict[int, Column]:
        """The columns that are made, by their place among all of them."""
        places = enumerate(self.columns.items())
        return {at: one for at, (name, one) in places if self.reads is None or name in self.reads}

    @property
    def schema(self) -> pa.Schema:
        """No event lacks a value, which spares Spark the checks."""
        types = {EVENT_TIME: pa.timestamp("us", tz="UTC")}
        names = list(self.columns)
        types |= {names[place]: column.arrow_type for place, column in self.made.items()}
        return pa.schema([pa.field(name, kind, nullable=False) for name, kind in types.items()])


class DataSet(BaseModel):
    """Named streams; the order of the names is the order of a query's arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    streams: Mapping[str, StreamSpec] = Field(min_length=1)


def event_spec(**columns: Column) -> DataSet:
    """A data set of one stream, called `events`, with the user's own columns."""
    return DataSet(streams={"events": StreamSpec(columns=columns)})
