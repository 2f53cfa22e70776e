"""The session of Spark that the runtime needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    # The setting that decides on the latency of a data stream with a shuffle; its default is 50 ms.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    # A task that is tried again would send its results again; the runtime starts the query again.
    "spark.task.maxFailures": "1",
    "spark.locality.wait": "0s",
}
"""To be given when the session is made."""
_AT_RUN_TIME = {
    # One checkpoint for both paradigms.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.realTimeMode.minBatchDuration": "1s",
    # Hadoop's default forks a process per file on a machine without its native library.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}


def adapt(session: SparkSession, slots: int) -> None:
    """Sets what can be set at run time; refuses a session in which the pipeline cannot run."""
    for key, value in _AT_RUN_TIME.items():
        session.conf.set(key, value)
    free = session.sparkContext.defaultParallelism
    if free < slots:
        raise StreamgaugeError(
            f"the session runs {free} tasks at a time, and a data stream has a task for every "
            f"partition all the time: {slots} in this pipeline",
            fix=f"give it more: master local[{slots}], whatever the number of cores",
        )
    try:
        session.readStream.format("kafka").option("subscribe", "x").option(
            "kafka.bootstrap.servers", "127.0.0.1:9"
        ).load()
    except Exception as error:
        raise StreamgaugeError(
            "the session has no Kafka source",
            fix="give it Spark's Kafka connector, or use `streamgauge dual run`, which brings it",
        ) from error


def slots_needed(partitions: int, shuffled: int, segments: int) -> int:
    """As data stream every segment has a task per partition, and one of them those of a shuffle.

    One more, so that a micro-batch of another segment finds a place.
    """
    return partitions * segments + shuffled + 1
