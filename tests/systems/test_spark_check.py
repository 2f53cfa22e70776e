"""Mistakes in a user's query, each found before the load and named with its line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamgauge.errors import ExperimentError
from streamgauge.queries.base import Query
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.systems.spark.check import check_query
from tests.loads import load_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SALES = """\
import streamgauge
from pyspark.sql import functions as F

EVENTS = streamgauge.event_spec(
    country=streamgauge.Choice(values=("AT", "DE")), amount=streamgauge.Real(low=1, high=9)
)
RATES = {"vat": 1.2}


@F.udf("double")
def taxed(amount):
    return amount * RATES["vat"]


@streamgauge.query(events=EVENTS, keys=["window", "country"])
def sales(events, *, window="5 s"):
    return (
        events.groupBy(F.window("event_time", window), "country")
        .agg(
            F.sum(taxed("amount")).alias("revenue"),
            F.max("event_time").alias("latest_event_time"),
        )
    )
"""
ORACLE = """

@sales.oracle
def expected(events, *, window="5 s"):
    revenue = F.sum(F.col("amount") * 1.2).alias("revenue")
    return events.groupBy(F.window("event_time", window), "country").agg(revenue)
"""


@pytest.fixture
def sales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "sales.py"


def built(file: Path, text: str, **parameters: str) -> Query:
    file.write_text(text)
    name, folder = f"{file.name}:sales", str(file.parent)
    return build_query(QueryConfig(name=name, base=folder, parameters=parameters))


def check(spark: SparkSession, query: Query) -> None:
    check_query(spark, query, load_of(query.streams))


@pytest.mark.parametrize("text", [SALES, SALES + ORACLE])
def test_a_right_query_passes_with_a_typed_udf_and_a_window_in_our_units(
    spark: SparkSession, sales: Path, text: str
) -> None:
    check(spark, built(sales, text, window="2 s"))


@pytest.mark.parametrize(
    ("right", "wrong", "cause", "fix"),
    [
        (
            '"country"])',
            '"land"])',
            "py:17 `sales` returns no column land",
            "return it, or correct",
        ),
        ('.alias("latest_', '.alias("', "py:17 `sales` returns no column latest_", "F.max("),
        (
            '").alias("latest',
            '").cast("string").alias("latest',
            "17 `sales` returns latest_event_time as string",
            "F.max(",
        ),
        (
            "    return (",
            '    {}["threshold"]\n    return (',
            "py:17 KeyError: 'threshold'",
            "that l",
        ),
        (
            "    return (",
            "    import sys; sys.exit(0)\n    return (",
            "py:17 SystemExit: 0",
            "that l",
        ),
        ("    return (", "    results = (", "py:17 `sales` returns None", "`return events.groupBy"),
        ("        .agg(", "    )\n    (dict(", "py:17 `sales` returns a GroupedData", ".agg(…)"),
        (
            'F.sum(taxed("amount"))',
            'F.sum("amuont")',
            "py:19 AnalysisException: A column",
            "column",
        ),
        ('RATES["vat"]', "RATES[amount]", "py:12 KeyError: ", "correct that line"),
        (
            '"event_time", window',
            '"event_time", "5"',
            "py:19 AnalysisException: Unable",
            "5 seconds",
        ),
        (
            'F.window("event_time", window)',
            'F.lit(1).alias("window")',
            "py:17 AnalysisException: Invalid streaming output mode",
            "window of `event_time`",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line(
    spark: SparkSession, sales: Path, right: str, wrong: str, cause: str, fix: str
) -> None:
    assert right in SALES
    with pytest.raises(ExperimentError) as caught:
        check(spark, built(sales, SALES.replace(right, wrong)))
    assert cause in caught.value.cause
    assert fix in caught.value.fix


@pytest.mark.parametrize(
    ("right", "wrong", "cause"),
    [
        ("F.col(", "F.kol(", "py:28 AttributeError: "),
        ('"country").agg', '"amount").agg', "py:29 `expected` returns no column country"),
        ('alias("revenue")\n', 'alias("income")\n', "the oracle returns income, which the query"),
    ],
)
def test_a_mistake_in_the_oracle_is_found_as_well(
    spark: SparkSession, sales: Path, right: str, wrong: str, cause: str
) -> None:
    assert right in ORACLE
    with pytest.raises(ExperimentError) as caught:
        check(spark, built(sales, SALES + ORACLE.replace(right, wrong)))
    assert cause in caught.value.cause
