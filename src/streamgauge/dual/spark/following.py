"""Follows the records through the user's operations, to the place where they came from.

An operation may select any columns, so a column that tells the source of a row would be lost in it.
Columns are therefore added to Spark's plan of the operations, below the level of the DataFrame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PASSING = {
    "EventTimeWatermark",
    "Filter",
    "Generate",
    "Join",
    "Project",
    "ResolvedHint",
    "SubqueryAlias",
}
"""Steps through which the source of each row is known."""
_STATEFUL = {"Aggregate", "Deduplicate"}
_MULTIPLYING = {"Generate", "Join"}
"""Steps that may make several rows of one."""


@dataclass(frozen=True)
class Steps:
    """What Spark makes of operations."""

    names: tuple[str, ...]
    """Of the steps that records pass, the last one first."""
    deterministic: bool

    @property
    def stateful(self) -> int:
        """How many of them have state."""
        return sum(name in _STATEFUL for name in self.names)

    @property
    def multiplying(self) -> bool:
        """Whether a record may have several results."""
        return any(name in _MULTIPLYING for name in self.names)

    @property
    def unknown(self) -> list[str]:
        """Steps through which a record cannot be followed."""
        return [name for name in self.names if name not in _PASSING | _STATEFUL]


def steps_of(rows: DataFrame) -> Steps:
    """The steps from the source of a stream to these rows."""
    plan = rows._jdf.queryExecution().analyzed()
    return Steps(tuple(_names(plan)), bool(plan.deterministic()))


def followed(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The rows with columns of their source, which the operations may have dropped.

    Behind an aggregation there is the highest value of each column that it can have seen.
    """
    from pyspark.sql import DataFrame

    session = rows.sparkSession
    plan = _Followed(session, columns).plan(rows._jdf.queryExecution().analyzed())
    dataset = getattr(_jvm(session).org.apache.spark.sql.classic, "Dataset$")
    return DataFrame(getattr(dataset, "MODULE$").ofRows(session._jsparkSession, plan), session)


class _Followed:
    def __init__(self, session: SparkSession, columns: Sequence[str]) -> None:
        self._session = session
        self._columns = columns
        self._logical = _jvm(session).org.apache.spark.sql.catalyst.plans.logical

    def plan(self, plan: Any) -> Any:
        """The same plan, with the columns in its output."""
        if not self._from_source(plan):
            return plan
        children = [self.plan(child) for child in _items(plan.children())]
        carried = [one for child in children for one in self._found(child)]
        kind = plan.getClass().getSimpleName()
        if kind == "Project":
            listed = _items(plan.projectList())
            return self._logical.Project(self._seq([*listed, *_new(carried, listed)]), children[0])
        if kind == "Aggregate":
            results = [*_items(plan.aggregateExpressions()), *self._highest(children[0])]
            grouping = plan.groupingExpressions()
            return self._logical.Aggregate(grouping, self._seq(results), children[0], plan.hint())
        return plan.withNewChildren(self._seq(children))

    def _from_source(self, plan: Any) -> bool:
        """Whether there is a step below it that has the columns."""
        below = _items(plan.children())
        return any(self._found(one) or self._from_source(one) for one in below)

    def _found(self, plan: Any) -> list[Any]:
        return [one for one in _items(plan.output()) if one.name() in self._columns]

    def _highest(self, child: Any) -> list[Any]:
        """The expressions of the highest value of each column, as Spark itself makes them."""
        from pyspark.sql import DataFrame
        from pyspark.sql import functions as F  # noqa: N812

        names = [one.name() for one in self._found(child)]
        if not names:
            return []
        dataset = getattr(_jvm(self._session).org.apache.spark.sql.classic, "Dataset$")
        rows = DataFrame(
            getattr(dataset, "MODULE$").ofRows(self._session._jsparkSession, child), self._session
        )
        made = rows.agg(*[F.max(name).alias(name) for name in names])
        return _items(made._jdf.queryExecution().analyzed().aggregateExpressions())

    def _seq(self, items: Sequence[Any]) -> Any:
        return _jvm(self._session).PythonUtils.toSeq(list(items))


def _names(plan: Any) -> list[str]:
    """Of the streaming steps, without the source."""
    if not plan.isStreaming() or not plan.children().size():
        return []
    kind = str(plan.getClass().getSimpleName())
    return [kind, *(name for child in _items(plan.children()) for name in _names(child))]


def _new(attributes: Sequence[Any], listed: Sequence[Any]) -> list[Any]:
    there = {one.exprId().id() for one in listed}
    return [one for one in attributes if one.exprId().id() not in there]


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(place) for place in range(sequence.size())]


def _jvm(session: SparkSession) -> Any:
    jvm = session._jvm
    if jvm is None:
        raise StreamgaugeError(
            "the session is one of Spark Connect, whose plans the runtime cannot read",
            fix="run the pipeline in a classic session: SparkSession.builder.master(…)",
        )
    return jvm
