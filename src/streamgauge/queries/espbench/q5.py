"""Q5, persist processing times: when products entered and left their workplaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import Input, ResultShape, StoredResults
from streamgauge.queries.espbench.base import EspbenchQuery, field, log_of
from streamgauge.queries.espbench.business import business_database
from streamgauge.queries.espbench.database import open_database
from streamgauge.queries.replay import Replay
from streamgauge.references import revealed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEYS = ("o_id", "ol_number", "pol_number", "is_end")
_INPUT = pa.schema([(name, pa.int64()) for name in KEYS])
_DONE = "rows BIGINT"


class PersistQuery(EspbenchQuery):
    """Q5, persist processing times: when products entered and left their workplaces.

    A batch is written with one statement per partition. A time that is set already stays, so a
    batch that comes again changes nothing.
    """

    functions: ClassVar[tuple[str, ...]] = ("transformation", "join with historical data")
    in_batches_only: ClassVar[str] = (
        "in real-time mode every record would be a statement of its own to the database"
    )
    stores_rows: ClassVar[bool] = True

    @property
    def inputs(self) -> Mapping[str, Input]:
        return {"production": self.production_stream(), "business": business_database(self)}

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=KEYS, output_time="time_us", per_event=1)

    @property
    def stored(self) -> StoredResults:
        return _Rows(revealed(self._services["business"]))

    def on_spark(self, production: DataFrame, business: str) -> DataFrame:  # noqa: ARG002
        fields = [field(place).cast("bigint").alias(name) for place, name in enumerate(KEYS)]
        return production.select(fields)

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """A row for every event of the log."""
        from pyspark.sql import functions as F  # noqa: N812

        log = log_of(spark, replay, "production")
        parsed = log.select(F.from_csv("line", _CSV, {"sep": "\t"}).alias("row"), EVENT_TIME)
        return parsed.select("row.*", F.col(EVENT_TIME).alias(LATEST_EVENT_TIME))


_CSV = ", ".join(f"{name} BIGINT" for name in KEYS)


class _Rows(StoredResults):
    """The times of the production order lines."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._database = open_database(address)

    def store(self, batch: DataFrame, number: int) -> None:  # noqa: ARG002
        address = self._address

        def persist(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            parts = [pa.table(batch.columns, schema=_INPUT) for batch in batches]
            rows = pa.concat_tables(parts) if parts else _INPUT.empty_table()
            if rows.num_rows:
                with open_database(address) as database:
                    database.persist(rows)
            yield pa.record_batch({"rows": pa.array([rows.num_rows], pa.int64())})

        batch.mapInArrow(persist, _DONE).collect()

    def count(self, *, exact: bool = False) -> int:
        return self._database.persisted_count(exact=exact)

    def rows(self) -> Iterator[pa.RecordBatch]:
        yield from self._database.persisted()
