"""Whether to divide a pipeline: what one record costs with a topic in between, and without."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.dual.model.estimates import Estimates

LEAST_GAIN = 1.1
"""A cut must make the pipeline so much faster: it is one more query to watch and to switch."""


def seconds_per_record(segments: Sequence[Estimates]) -> float | None:
    """The time of one record of the source in all segments, each in its faster paradigm.

    Segments share the cores, so their times add up; behind a segment there are λ times as many
    records. None: a speed is not known.
    """
    total_s, arriving = 0.0, 1.0
    for place, one in enumerate(segments):
        speeds = [speed for speed in (one.data_speed.value, one.operation_speed.value) if speed]
        if not speeds:
            return None
        total_s += arriving / max(speeds)
        if place + 1 < len(segments):
            if one.magnification.value is None:
                return None
            arriving *= one.magnification.value
    return total_s


def cut_pays(whole: Sequence[Estimates], divided: Sequence[Estimates]) -> bool:
    """Whether the divided pipeline is clearly faster than the whole one; no, if it is not known."""
    whole_s, divided_s = seconds_per_record(whole), seconds_per_record(divided)
    if whole_s is None or divided_s is None:
        return False
    return whole_s >= LEAST_GAIN * divided_s
