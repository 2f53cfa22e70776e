"""A stream with a column of every kind."""

from __future__ import annotations

from streamgauge import (
    Choice,
    Flag,
    Json,
    Keys,
    Object,
    Real,
    StreamSpec,
    Time,
    Uuid,
    Whole,
    Words,
)

EVERY_KIND = StreamSpec(
    columns={
        "sensor": Keys(size=1_000, outside=0.1, moves_every=700),
        "level": Whole(low=-5, high=5),
        "temperature": Real(low=-10, high=40, decimals=1, distribution="normal"),
        "alarm": Flag(share=0.2),
        "installed": Time(low="2020-01-01", high="2024-12-31", step="1 h"),
        "state": Choice(values=("ok", "warm", "hot"), weights=(0.9, 0.09, 0.01)),
        "remark": Words(vocabulary=500, low=1, high=6),
        "reading": Uuid(),
        "owner": Uuid(size=100, distribution="zipf"),
        "place": Object(
            columns={
                "room": Choice(values=("hall", 'the "attic"')),
                "at": Object(columns={"x": Real(low=0, high=9), "y": Real(low=0, high=9)}),
            }
        ),
        "message": Json(
            columns={
                "id": Uuid(),
                "text": Words(vocabulary=('"a"', "b\\", "ä", "\x01"), low=1, high=3),
                "seen": Time(low="2024-01-01", high="2024-01-02"),
                "inner": Object(columns={"level": Whole(low=0, high=9), "urgent": Flag()}),
            }
        ),
    }
)
