"""Thresholds: `event_time.p99 < 5 s`, `validation.missing == 0`, `drained_per_s >= 100k`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from streamgauge.errors import UsageError
from streamgauge.measure.figures import Use, find_figure, value_of
from streamgauge.measure.summary import Summary, ThresholdResult

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


class ParsedThreshold(BaseModel):
    """A comparison of one figure of the summary with a number."""

    model_config = ConfigDict(frozen=True)

    expression: str
    figure: str
    sign: str
    limit: float

    def check(self, summary: Summary) -> ThresholdResult:
        """A figure that was not measured fails its threshold."""
        value = value_of(summary, self.figure)
        passed = value is not None and _OPERATORS[self.sign](value, self.limit)
        return ThresholdResult(expression=self.expression, value=value, passed=passed)


def _parse(value: Any) -> ParsedThreshold:
    if isinstance(value, ParsedThreshold):
        return value
    match = re.fullmatch(r"\s*([a-z_0-9.]+)\s*(<=|>=|==|!=|<|>)\s*(.+?)\s*", str(value))
    if match is None:
        raise ValueError(f"{value!r} is not a threshold such as `event_time.p99 < 5 s`")
    name, sign, limit = match.groups()
    try:
        figure = find_figure(name, Use.THRESHOLD)
    except UsageError as error:
        raise ValueError(f"{error.cause}; {error.fix}") from None
    return ParsedThreshold(
        expression=str(value).strip(),
        figure=figure.name,
        sign=sign,
        limit=figure.unit.parse_limit(limit),
    )


Threshold = Annotated[
    ParsedThreshold,
    BeforeValidator(_parse),
    PlainSerializer(lambda threshold: threshold.expression, return_type=str),
]
