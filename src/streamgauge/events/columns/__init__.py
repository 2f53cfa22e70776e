"""The kinds of columns that an event can have, and how random numbers become their values."""

from streamgauge.events.columns.objects import Column, Json, Object
from streamgauge.events.columns.texts import Choice, Uuid, Words
from streamgauge.events.columns.values import Flag, Keys, Real, Time, Whole

__all__ = [
    "Choice",
    "Column",
    "Flag",
    "Json",
    "Keys",
    "Object",
    "Real",
    "Time",
    "Uuid",
    "Whole",
    "Words",
]
