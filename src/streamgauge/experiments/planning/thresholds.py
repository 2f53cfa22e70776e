"""Thresholds: `event_time.p99 < 5 s`, `validation.missing == 0`, `drained_per_s >= 100k`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from streamgauge.measure.summary import (
    LatencyStatistics,
    Summary,
    ThresholdResult,
    Validation,
)
from streamgauge.units import parse_count, parse_duration_us

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_STATISTICS = [n for n in LatencyStatistics.model_fields if n not in ("growing", "growth_per_s")]
_COUNTS = [n for n in Validation.model_fields if n not in ("oracle", "input_matches", "examples")]
METRICS = [
    *(f"{kind}.{name}" for kind in ("event_time", "processing_time") for name in _STATISTICS),
    *(f"validation.{name}" for name in _COUNTS),
    "offered_per_s",
    "drained_per_s",
]


class ParsedThreshold(BaseModel):
    """A comparison of one figure of the summary with a number."""

    model_config = ConfigDict(frozen=True)

    expression: str
    metric: str
    sign: str
    limit: float

    def check(self, summary: Summary) -> ThresholdResult:
        """A figure that is not there fails its threshold: nobody has seen it hold."""
        value = _value(summary, self.metric)
        passed = value is not None and _OPERATORS[self.sign](value, self.limit)
        return ThresholdResult(expression=self.expression, value=value, passed=passed)


def _parse(value: Any) -> ParsedThreshold:
    if isinstance(value, ParsedThreshold):
        return value
    match = re.fullmatch(r"\s*([a-z_0-9.]+)\s*(<=|>=|==|!=|<|>)\s*(.+?)\s*", str(value))
    if match is None:
        raise ValueError(f"{value!r} is not a threshold such as `event_time.p99 < 5 s`")
    metric, sign, limit = match.groups()
    if metric not in METRICS:
        import difflib

        near = difflib.get_close_matches(metric, METRICS, n=1, cutoff=0.4)
        hint = f"did you mean `{near[0]}`?" if near else f"choose one of {', '.join(METRICS)}"
        raise ValueError(f"there is no figure `{metric}`; {hint}")
    is_time = "time." in metric and not metric.endswith("count")
    number = parse_duration_us(limit) / 1_000 if is_time else parse_count(limit)
    return ParsedThreshold(expression=str(value).strip(), metric=metric, sign=sign, limit=number)


def _value(summary: Summary, metric: str) -> float | None:
    section, _, name = metric.rpartition(".")
    if section == "validation":
        found = getattr(summary.validation, name)
    elif section:
        found = getattr(getattr(summary.latency_ms, section), name)
    else:
        found = getattr(summary, name)
    return None if found is None else float(found)


Threshold = Annotated[
    ParsedThreshold,
    BeforeValidator(_parse),
    PlainSerializer(lambda threshold: threshold.expression, return_type=str),
]
