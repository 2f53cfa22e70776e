"""The streams of a workload, and the columns that all events and results have."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from streamgauge.events.columns import Column
from streamgauge.events.sources import EVENT_TIME as EVENT_TIME
from streamgauge.events.sources import Source
from streamgauge.events.sources import StreamSpec as StreamSpec
from streamgauge.models import StrictModel

LATEST_EVENT_TIME = "latest_event_time"
"""A column of every result: the highest event time among the inputs that made it."""
SCHEDULED_TIME = "scheduled_time"
"""A column of events whose event time is that of a broker: when they were due."""
ARRIVAL = "arrival_us"
"""Added by the sink: microseconds since 1970 at which the result arrived."""
PLACE = "arrival_place"
"""Added by the sink: the number of results that had arrived before."""
MESSAGE = "message"
"""The text of a message, of a result or of an event in the log of a topic."""
MESSAGE_KEY = "message_key"
"""The text of its key, if it has one."""
BROKER_TIME = "broker_us"
"""The time at which a broker had the message, in microseconds since 1970."""
PARTITION, OFFSET = "log_partition", "log_offset"
"""The place of the message in its topic."""


class DataSet(StrictModel):
    """Named streams; the order of the names is the order of a query's arguments."""

    streams: Mapping[str, Source] = Field(min_length=1)


def event_spec(**columns: Column) -> DataSet:
    """A data set of one stream, called `events`, with the user's own columns."""
    return DataSet(streams={"events": StreamSpec(columns=columns)})
