"""`--fail-if "p99:+5%"`: limits for changes, for continuous integration."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamgauge.compare import change_text
from streamgauge.compare.comparison import Change, Comparison, Finding, Frozen, Pair
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


class CheckResult(Frozen):
    """The result of one expression in one case."""

    expression: str
    other: str
    varied: dict[str, object]
    passed: bool
    reason: str

    def text(self, *, with_run: bool) -> str:
        """The reason, after the run and the case that it is about."""
        run = self.other if with_run else ""
        return ": ".join(filter(None, (run, case_label(self.varied), self.reason)))


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
        size = parse_count(amount[:-1].strip()) if relative else figure.unit.parse_amount(amount)
    except ValueError as error:
        amounts = ("5%", figure.unit.example)
        examples = " or ".join(f'`--fail-if "{name}:{sign}{one}"`' for one in amounts)
        raise UsageError(f"`--fail-if {text}`: {error}", fix=f"write {examples}") from None
    return FailIf(text.strip(), figure, 1 if sign == "+" else -1, size, relative)


def check(expressions: list[FailIf], comparison: Comparison) -> list[CheckResult]:
    """Every expression in every case of every pair; a figure that cannot be compared fails."""
    return [
        result
        for expression in expressions
        for pair in comparison.pairs
        for result in _check_pair(expression, pair)
    ]


def _check_pair(rule: FailIf, pair: Pair) -> list[CheckResult]:
    found = [(case.varied, *_check(rule, case.change(rule.figure.name))) for case in pair.cases]
    found += [(varied, False, "only the base has this case") for varied in pair.only_base]
    found += [(varied, False, "only the other has this case") for varied in pair.only_other]
    return [
        CheckResult(
            expression=rule.expression,
            other=pair.other.label,
            varied=varied,
            passed=passed,
            reason=reason,
        )
        for varied, passed, reason in found
    ]


def _check(rule: FailIf, change: Change | None) -> tuple[bool, str]:
    if change is None:
        return False, "neither side has this figure"
    if change.finding is Finding.GROWING:
        return False, f"latency grows in {' and '.join(change.growing)}: it has no mean"
    if change.delta is None:
        return False, f"the {'base' if change.base is None else 'other'} does not have this figure"
    before, after = change_text.value(change, "base"), change_text.value(change, "other")
    if change.delta == 0:
        return True, f"no change ({after})"
    text = f"{change_text.percent(change)} ({before} → {after})"
    if not _exceeds(rule, change.delta, change.percent):
        return True, text
    if change.finding is Finding.NOT_SIGNIFICANT:
        return True, f"{text}, but that is inside the noise margin of {change_text.margin(change)}"
    if change.margin is None:
        return False, f"{text}; {change.noise}"
    return False, f"{text}, more than the noise margin of {change_text.margin(change)}"


def _exceeds(rule: FailIf, delta: float, percent: float | None) -> bool:
    if not rule.relative:
        return rule.sign * delta > rule.amount
    # From 0 any rise is more than any percentage.
    return rule.sign * delta > 0 if percent is None else rule.sign * percent > rule.amount
