"""Records are followed through operations that drop every column they know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamgauge.dual.spark.following import followed, steps_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def _source(spark: SparkSession) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    records = spark.readStream.format("rate").load()
    return records.select("value", "timestamp", F.col("value").alias("_offset"))


def _operations(records: DataFrame) -> DataFrame:
    """Every kind of step that has no state."""
    from pyspark.sql import functions as F  # noqa: N812

    table = records.sparkSession.createDataFrame([(0, "even"), (1, "odd")], "rest int, kind string")
    seen = records.select("value", "timestamp").withWatermark("timestamp", "1 second")
    parts = seen.select(F.explode(F.array(F.col("value"), F.col("value") + 1)).alias("part"))
    rest = parts.where("part > 2").withColumn("rest", (F.col("part") % 2).cast("int"))
    return rest.alias("numbers").join(F.broadcast(table), "rest").select("kind")


def test_a_dropped_column_comes_back(spark: SparkSession) -> None:
    rows = _operations(_source(spark))
    assert rows.columns == ["kind"]
    assert followed(rows, ["_offset"]).columns == ["kind", "_offset"]
    steps = steps_of(rows)
    assert (steps.stateful, steps.multiplying, steps.deterministic) == (0, True, True)
    assert steps.unknown == []


def test_the_column_has_the_value_of_the_source(spark: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    records = spark.range(4).select(
        F.col("id").alias("value"), F.current_timestamp().alias("timestamp"), "id"
    )
    records = records.select("value", "timestamp", F.col("id").alias("_offset"))
    rows = followed(_operations(records), ["_offset"]).collect()
    # Of 2 comes 3, of 3 come 3 and 4.
    assert sorted((row["_offset"], row["kind"]) for row in rows) == [
        (2, "odd"),
        (3, "even"),
        (3, "odd"),
    ]


def test_behind_an_aggregation_there_is_the_highest_value(spark: SparkSession) -> None:
    counts = _operations(_source(spark)).groupBy("kind").count().select("count")
    assert steps_of(counts).stateful == 1
    assert followed(counts, ["_offset"]).columns == ["count", "_offset"]
    batch = _operations(
        spark.range(9).selectExpr("id AS value", "current_timestamp() AS timestamp", "id _offset")
    )
    highest = followed(batch.groupBy("kind").count().select("count"), ["_offset"]).collect()
    assert sorted((row["count"], row["_offset"]) for row in highest) == [(6, 8), (7, 8)]


def test_what_cannot_be_followed_is_named(spark: SparkSession) -> None:
    rows = _source(spark).repartition(2)
    assert steps_of(rows).unknown == ["Repartition"]


def test_a_random_number_is_found(spark: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    assert not steps_of(_source(spark).select(F.rand().alias("chance"))).deterministic
