"""Makes the archive of Java classes that `make test` starts its JVMs with: `python -m …`.

A JVM that maps Spark's classes from an archive, instead of reading and checking each, starts with
half of the CPU time, and the tests start dozens.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

NAME = "spark-classes.jsa"
LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A JVM of a test lives for seconds: to compile it to the last bit takes half of its CPU time."""


def java_options() -> str:
    """With the archive of this virtual environment, if there is one.

    A JVM with another class path, such as the broker, does not use it, and should not say so.
    """
    archive = Path(sys.prefix) / NAME
    return f"{LIGHT} -Xlog:disable -XX:SharedArchiveFile={archive}" if archive.exists() else LIGHT


def main() -> None:
    from streamgauge.compute.java import find_java
    from streamgauge.compute.session import open_session

    made = Path(sys.prefix) / NAME
    new = made.with_suffix(".new")
    os.environ["JAVA_TOOL_OPTIONS"] = f"{LIGHT} -Xlog:disable -XX:ArchiveClassesAtExit={new}"
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        os.environ.update(find_java().env(scratch))
        conf = {"spark.sql.shuffle.partitions": "2"}
        spark = open_session("classes", "local[2]", scratch, conf, short=True)
        rows = spark.range(1_000).selectExpr(
            "id % 7 AS key", "id / 2 AS value", "timestamp_seconds(id) AS time"
        )
        rows.write.parquet(str(scratch / "rows"))
        stored = spark.read.parquet(str(scratch / "rows"))
        same = spark.createDataFrame(stored.toArrow()).mapInArrow(lambda part: part, rows.schema)
        counted = "count(*) AS count", "max(time) AS time"
        joined = same.groupBy("key").agg({"value": "avg"}).join(stored, "key", "full_outer")
        joined.selectExpr("to_json(struct(*)) AS text", "rank() OVER (ORDER BY key)").collect()
        stream = spark.readStream.schema(rows.schema).parquet(str(scratch / "rows"))
        stream.createOrReplaceTempView("events")
        windows = spark.sql(
            f"SELECT window(time, '1 minute') AS window, key, {', '.join(counted)} "
            "FROM events GROUP BY window(time, '1 minute'), key"
        )
        query = windows.writeStream.outputMode("update").format("memory").queryName("q").start()
        query.processAllAvailable()
        query.stop()
        gateway = spark.sparkContext._gateway
        spark.stop()
        # The archive is written when the JVM ends, which is when its input ends.
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(300)
    new.replace(made)


if __name__ == "__main__":
    main()
