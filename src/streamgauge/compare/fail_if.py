"""`--fail-if "p99:+5%"`: limits for changes, for continuous integration."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from streamgauge.compare import change_text
from streamgauge.compare.comparison import Change, Comparison, Finding, Pair
from streamgauge.errors import UsageError
from streamgauge.measure.figures import Figure, Use, find_figure
from streamgauge.report.cases import case_label
from streamgauge.units import parse_count

_FORM = re.compile(r"\s*([\w.]+)\s*:\s*([+\-−])\s*([0-9].*?)\s*", re.ASCII)
_EXAMPLES = '`--fail-if "p99:+5%"`, `--fail-if "throughput:-2%"` or `--fail-if "p99:+200 ms"`'


@dataclass(frozen=True)
class FailIf:
    """Fails when the figure changes by more than the amount in the direction of the sign."""

    expression: str
    figure: Figure
    sign: int
    amount: float
    relative: bool


class CheckResult(BaseModel):
    """The result of one expression in one case."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    expression: str
    other: str
    varied: dict[str, object] = {}
    passed: bool
    reason: str

    def text(self, *, with_run: bool) -> str:
        """The reason, after the run and the case that it is about."""
        where = [self.other] if with_run else []
        where += [case_label(self.varied)] if self.varied else []
        return ": ".join([*where, self.reason])


def parse_fail_if(text: str) -> FailIf:
    """`p99:+5%`: grew by more than 5 %; `drained:-1000`: fell by more than 1000."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(
            f"`--fail-if {text}` is not of the form FIGURE:+AMOUNT or FIGURE:-AMOUNT",
            fix=f"write for example {_EXAMPLES}",
        )
    name, sign, amount = match.groups()
    try:
        figure = find_figure(name, Use.COMPARE)
    except UsageError as error:
        raise UsageError(f"`--fail-if {text}`: {error.cause}", fix=error.fix) from None
    relative = amount.endswith("%")
    try:
        size = (
            parse_count(amount.removesuffix("%").strip())
            if relative
            else figure.unit.parse_amount(amount)
        )
    except ValueError as error:
        raise UsageError(f"`--fail-if {text}`: {error}", fix=_fix(name, sign, figure)) from None
    return FailIf(text.strip(), figure, 1 if sign == "+" else -1, size, relative)


def _fix(name: str, sign: str, figure: Figure) -> str:
    examples = (f'`--fail-if "{name}:{sign}{amount}"`' for amount in ("5%", figure.unit.example))
    return f"write {' or '.join(examples)}"


def check(expressions: list[FailIf], comparison: Comparison) -> list[CheckResult]:
    """Every expression in every case of every pair; what could not be compared fails."""
    return [
        result
        for expression in expressions
        for pair in comparison.pairs
        for result in _check_pair(expression, pair)
    ]


def _check_pair(rule: FailIf, pair: Pair) -> list[CheckResult]:
    def result(varied: dict[str, object], passed: bool, reason: str) -> CheckResult:
        return CheckResult(
            expression=rule.expression,
            other=pair.other.label,
            varied=varied,
            passed=passed,
            reason=reason,
        )

    found = [
        result(case.varied, *_judged(rule, case.change(rule.figure.name))) for case in pair.cases
    ]
    for side, alone in (("base", pair.only_base), ("other", pair.only_other)):
        found += [result(varied, False, f"only the {side} has this case") for varied in alone]
    return found


def _judged(rule: FailIf, change: Change | None) -> tuple[bool, str]:
    if change is None:
        return False, "neither side has this figure"
    if change.finding is Finding.GROWING:
        return False, f"latency grows in {' and '.join(change.growing)}: it has no mean"
    if change.delta is None:
        return False, f"the {'base' if change.base is None else 'other'} does not have this figure"
    text = _change_text(change)
    if not _exceeds(rule, change):
        return True, text
    if change.finding is Finding.NOT_SIGNIFICANT:
        return True, f"{text}, but that is inside the noise margin of {change_text.margin(change)}"
    if change.margin is None:
        return False, f"{text}; {change.noise}"
    return False, f"{text}, more than the noise margin of {change_text.margin(change)}"


def _exceeds(rule: FailIf, change: Change) -> bool:
    assert change.delta is not None
    grown = rule.sign * change.delta
    if not rule.relative:
        return grown > rule.amount
    # From 0 any rise is more than any percentage.
    return grown > 0 if change.percent is None else rule.sign * change.percent > rule.amount


def _change_text(change: Change) -> str:
    before, after = change_text.value(change, "base"), change_text.value(change, "other")
    if change.delta == 0:
        return f"no change ({after})"
    return f"{change_text.percent(change)} ({before} → {after})"
