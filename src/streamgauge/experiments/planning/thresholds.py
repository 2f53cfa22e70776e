"""Thresholds: `event_time.p99 < 5 s`, `validation.missing == 0`, `drained_per_s >= 100k`."""

from __future__ import annotations

import operator
import re
from typing import Any

from pydantic import BaseModel, ConfigDict, model_serializer, model_validator

from streamgauge.errors import UsageError
from streamgauge.measure.figures import Use, find_figure, value_of, why_not
from streamgauge.measure.summary import Summary, ThresholdResult

_OPERATORS = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


class Threshold(BaseModel):
    """A comparison of one figure of the summary with a number; in files it is a text."""

    model_config = ConfigDict(frozen=True)

    expression: str
    figure: str
    sign: str
    limit: float

    @model_validator(mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        signs = "|".join(_OPERATORS)
        match = re.fullmatch(rf"\s*([a-z_0-9.]+)\s*({signs})\s*(.+?)\s*", str(value))
        if match is None:
            raise ValueError(f"{value!r} is not a threshold such as `event_time.p99 < 5 s`")
        name, sign, limit = match.groups()
        try:
            figure = find_figure(name, Use.THRESHOLD)
        except UsageError as error:
            raise ValueError(f"{error.cause}; {error.fix}") from None
        parsed = {"figure": figure.name, "sign": sign, "limit": figure.unit.parse_limit(limit)}
        return {"expression": str(value).strip(), **parsed}

    @model_serializer
    def _as_text(self) -> str:
        return self.expression

    def check(self, summary: Summary) -> ThresholdResult:
        """A figure that was not measured fails its threshold."""
        value = value_of(summary, self.figure)
        if value is None:
            reason = why_not(summary, self.figure)
            return ThresholdResult(expression=self.expression, passed=False, reason=reason)
        passed = _OPERATORS[self.sign](value, self.limit)
        return ThresholdResult(expression=self.expression, value=value, passed=passed)
