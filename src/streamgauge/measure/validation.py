"""Compares the results that arrived with the expected ones, on Spark, in any order of arrival."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import and_

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from streamgauge.compute.tasks import spread
from streamgauge.events.spec import ARRIVAL, PLACE
from streamgauge.measure.examples import in_words
from streamgauge.measure.log_checks import log_matches, out_of_order
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import FAULTS, Validation
from streamgauge.queries.base import Query
from streamgauge.queries.replay import Slice

TOLERANCE = 1e-9
"""Relative: the last digits of a floating-point sum depend on the order of summation."""
EXAMPLES = 10
_COMPARED = tuple(name for name in FAULTS if name != "late")
"""The faults that a comparison finds; late results are found by their arrival."""
# As text, because Spark has no unsigned integers of 64 bits.
_FINGERPRINT = pa.schema([("fingerprint", pa.string())])


def validate(
    spark: SparkSession,
    query: Query,
    record: RunRecord,
    results: DataFrame | None,
    expected: DataFrame | None = None,
) -> Validation:
    """Counts of expected, missing, extra, duplicate, wrong and late results.

    `expected` is that of the query, unless something is not to be compared.
    """
    if expected is None:
        expected = expected_results(spark, query, record)
    if results is None:
        results = spark.createDataFrame([], expected.schema).selectExpr(
            "*", f"0L AS {ARRIVAL}", f"0L AS {PLACE}"
        )
    late = f"count_if({ARRIVAL} > {record.closed_us}) AS late"
    arrived = results.selectExpr("count(*) AS actual", late).collect()[0]
    actual = _final_updates(results, query) if query.sends_updates else results
    keys = list(query.shape.keys)
    lacking = [name for name in expected.columns if name not in actual.columns]
    if lacking:
        raise ValueError(f"the results lack the column {', '.join(lacking)}, which is expected")
    values = [name for name in expected.columns if name not in (*keys, query.shape.output_time)]
    compared = compare(expected, actual, keys, values)
    counts = counts_of(compared)
    return Validation(
        oracle=query.oracle_is,
        values_compared=query.compares_values,
        input_matches=input_matches(spark, record)
        and log_matches(spark, record, record.load.in_broker_time),
        disordered=out_of_order(results, query),
        examples=_examples(compared) if any(counts[name] for name in _COMPARED) else [],
    ).model_copy(update={**counts, **arrived.asDict()})


def expected_results(spark: SparkSession, query: Query, record: RunRecord) -> DataFrame:
    """In append mode only the results that could be complete by the last event of the run."""
    expected = query.expected(spark, record.replay)
    closes = query.shape.closes
    if query.output_mode == "append" and closes and closes.partition(".")[0] in expected.columns:
        expected = expected.where(F.unix_micros(closes) <= record.replay.frontier_us)
    return expected


def _final_updates(results: DataFrame, query: Query) -> DataFrame:
    """The last value of each key: in update mode a result is sent again whenever it changes."""
    shape = query.shape
    newest_first = Window.partitionBy(*shape.keys).orderBy(
        F.col(shape.output_time).desc(), F.col(PLACE).desc()
    )
    ranked = results.withColumn("_rank", F.row_number().over(newest_first))
    return ranked.where("_rank = 1").drop("_rank")


def compare(
    expected: DataFrame, actual: DataFrame, keys: list[str], values: list[str]
) -> DataFrame:
    """One row per key: both lists of values, and the counts of faults."""
    fields = values or keys

    def grouped(rows: DataFrame, side: str) -> DataFrame:
        return rows.groupBy(*keys).agg(F.collect_list(F.struct(*fields)).alias(side))

    def same(left: Column, right: Column) -> Column:
        checks = (same_value(left[name], right[name], types[name]) for name in fields)
        return reduce(and_, checks)

    types = dict(expected.dtypes)
    if keys:
        # Null keys are keys like any other.
        left, right = grouped(expected, "expected"), grouped(actual, "actual")
        renamed = right.select(*[F.col(k).alias(f"_{k}") for k in keys], "actual")
        condition = [F.col(k).eqNullSafe(F.col(f"_{k}")) for k in keys]
        joined = left.join(renamed, condition, "full_outer").select(
            *[F.coalesce(F.col(k), F.col(f"_{k}")).alias(k) for k in keys], "expected", "actual"
        )
    else:
        joined = grouped(expected, "expected").crossJoin(grouped(actual, "actual"))
    # The size of null is null or −1.
    n_expected = F.greatest(F.size("expected"), F.lit(0))
    n_actual = F.greatest(F.size("actual"), F.lit(0))
    unexpected = F.size(F.filter("actual", lambda a: ~F.exists("expected", lambda e: same(a, e))))
    unseen = F.size(F.filter("expected", lambda e: ~F.exists("actual", lambda a: same(a, e))))
    missing = F.greatest(n_expected - n_actual, F.lit(0))
    surplus = F.greatest(n_actual - n_expected, F.lit(0))
    known = n_expected > 0
    return joined.select(
        "*",
        n_expected.alias("n_expected"),
        missing.alias("missing"),
        F.when(known, 0).otherwise(surplus).alias("extra"),
        F.when(known, surplus).otherwise(0).alias("duplicate"),
        # If a value arrived twice instead of another one, none is unexpected, but one is unseen.
        F.when(known & (n_actual > 0), F.greatest(unexpected, unseen - missing))
        .otherwise(0)
        .alias("wrong"),
    )


def same_value(left: Column, right: Column, kind: str) -> Column:
    if kind not in ("double", "float"):
        return left.eqNullSafe(right)
    near = F.abs(left - right) <= TOLERANCE * F.greatest(F.abs(left), F.abs(right))
    return left.eqNullSafe(right) | F.coalesce(near, F.lit(False))


def counts_of(compared: DataFrame) -> dict[str, int]:
    sums = {"expected": F.sum("n_expected"), **{name: F.sum(name) for name in _COMPARED}}
    row = compared.agg(*sums.values()).collect()[0]
    return {name: int(count or 0) for name, count in zip(sums, row, strict=True)}


def _examples(compared: DataFrame) -> list[str]:
    """A few of the faulty results, for the report."""
    faulty = compared.where(" + ".join(_COMPARED) + " > 0").drop("n_expected").limit(EXAMPLES)
    texts = []
    for row in faulty.collect():
        found = row.asDict(recursive=True)
        faults = [name for name in _COMPARED if found.pop(name)]
        expected, actual = found.pop("expected") or [], found.pop("actual") or []
        texts.append(in_words(faults, found, expected, actual, TOLERANCE))
    return texts


def input_matches(spark: SparkSession, record: RunRecord) -> bool:
    """Whether the regenerated events are those that the driver offered."""
    replay = record.replay
    slices = [part for stream in record.load.streams for part in replay.slices(stream)]
    if not slices:
        return record.fingerprint == 0

    def prints(parts: Iterator[Slice]) -> Iterator[pa.RecordBatch]:
        for part in parts:
            yield pa.record_batch([[str(replay.fingerprint(part))]], schema=_FINGERPRINT)

    found = spread(spark, slices, prints, _FINGERPRINT).collect()
    total = sum(int(row["fingerprint"]) for row in found)
    return total & ((1 << 64) - 1) == record.fingerprint
