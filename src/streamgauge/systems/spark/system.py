"""The settings of Spark as a system under test, and how its program is started."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from streamgauge.channels.base import Channel, Connector
from streamgauge.compute.java import find_java
from streamgauge.compute.session import Master, is_local, spark_env
from streamgauge.errors import ExperimentError
from streamgauge.measure.components import OwnParts, of_micro_batches
from streamgauge.measure.guarantee import AT_LEAST_ONCE, EXACTLY_ONCE
from streamgauge.measure.limits import Evidence
from streamgauge.measure.summary import Limit
from streamgauge.models import StrictModel
from streamgauge.processes.component import Component, module_argv
from streamgauge.processes.targets import Nature, Target
from streamgauge.queries.base import Query
from streamgauge.services.spark_cluster import SparkCluster
from streamgauge.systems.base import YES, Capability, System, SystemContext, not_yet
from streamgauge.systems.running import Diagnostics, RunningProgram, RunningSystem
from streamgauge.systems.spark.advice import SparkEvidence, spark_limits
from streamgauge.systems.spark.members import EXECUTOR, PYTHON_WORKER, members
from streamgauge.systems.spark.progress import BatchProgress
from streamgauge.units import SECOND_US, DurationUs, WholeNumber

Conf = dict[str, str | int | float | bool]
_STATE_STORES = {
    "memory": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "rocksdb": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}


class Cluster(StrictModel):
    """A standalone cluster on this machine, started for the run and stopped after it."""

    workers: WholeNumber = Field(default=2, ge=1, le=64, description="each has one executor")
    cores: WholeNumber = Field(default=1, ge=1, description="of each worker")


class SparkBase(System):
    """A PySpark program in its own process, submitted to any master, in one mode or the other."""

    kind: ClassVar[str] = "spark"
    powers: ClassVar[Mapping[str, Capability]] = {
        "kill": YES,
        "pause": YES,
        "restart": YES,
        "scale": not_yet("workers cannot be added to or taken from a running cluster"),
    }
    # The JVM compiles Spark's planner in this time; a saturated system takes that long, and drained
    # a third less in its first ten seconds than after them.
    warm_up_us: ClassVar[int] = 30 * SECOND_US
    default_master: ClassVar[str] = "local[2]"
    program: ClassVar[str] = "streamgauge.systems.spark.program"
    micro_batches: ClassVar[bool] = True
    """Whether Spark can say that a query has processed all that is there."""

    master: Master | None = Field(
        default=None,
        description="local[n], local-cluster[…], spark://…, yarn, k8s://…; default: local[2], "
        "local[8] in real-time mode, local[16] for the dual-paradigm runtime",
    )
    cluster: Cluster | None = Field(
        default=None, description="start a standalone cluster, instead of `master`"
    )
    memory: str = Field(default="4g", description="of the program and of each executor")
    cores: WholeNumber | None = Field(
        default=None, ge=1, description="in total, of a cluster; default: the master's"
    )
    shuffle_partitions: WholeNumber | None = Field(
        default=None, ge=1, description="default: the cores"
    )
    rehearsal: WholeNumber = Field(
        default=8, ge=0, le=1_000, description="batches of made-up events before the run"
    )
    cpus: list[WholeNumber] | None = Field(
        default=None, min_length=1, description="CPUs to pin the program to; default: any"
    )
    conf: Conf = Field(default={}, description="any spark.* setting")

    @field_validator("memory")
    @classmethod
    def _memory(cls, value: str) -> str:
        if not re.fullmatch(r"[1-9][0-9]*[kmgt]", value):
            raise ValueError(f"{value!r} is not a size such as `2g` or `512m`")
        return value

    @field_validator("cpus")
    @classmethod
    def _existing_cpus(cls, cpus: list[int] | None) -> list[int] | None:
        # A container may have only some of the machine's CPUs.
        on_linux = hasattr(os, "sched_getaffinity")
        usable = os.sched_getaffinity(0) if on_linux else set(range(os.cpu_count() or 1))
        for cpu in cpus or ():
            if cpu not in usable:
                known = ", ".join(map(str, sorted(usable)))
                raise ValueError(f"there is no CPU {cpu} to be used here; there are {known}")
        return cpus

    @field_validator("conf")
    @classmethod
    def _spark_settings(cls, conf: Conf) -> Conf:
        for key in conf:
            if not key.startswith("spark."):
                raise ValueError(f"{key!r} is not a spark.* setting")
        return conf

    def resolved(self, base: Path, query: Query, channel: Channel) -> SparkBase:  # noqa: ARG002
        if self.cluster is not None and self.master is not None:
            raise ExperimentError(
                "system.cluster",
                f"is started for the run, so `system.master` ({self.master}) has no effect",
                fix="leave one of them out; `--set system.master=null` removes that of a file",
            )
        # Program and executor are one process, whose threads only the master's name counts.
        if self.cores is not None and not self._has_executors:
            raise ExperimentError(
                "system.cores",
                f"has no effect with the master `{self.url}`",
                fix=f"leave it out, and set `system.master=local[{self.cores}]`",
            )
        return self

    def targets(self, connector: Connector) -> dict[str, Target]:
        one_jvm = "" if self._has_executors else f"with `{self.url}` the program is the executor"
        none = "" if self.cluster else "there is no cluster of ours: set `system.cluster`"
        if self._has_executors and not self.runs_here:
            one_jvm = "the executors are on other machines"
        return {
            **super().targets(connector),
            EXECUTOR: Target(Nature.PROCESS, one_jvm),
            "worker": Target(Nature.PROCESS, none),
            "master": Target(Nature.PROCESS, none),
        }

    @property
    def _has_executors(self) -> bool:
        """Whether tasks run in processes of their own."""
        one_jvm = self.url == "local" or self.url.startswith("local[")
        return self.cluster is not None or not one_jvm

    def start(self, context: SystemContext) -> RunningSystem:
        services = ExitStack()
        if self.cluster is None:
            launch = self._with_jars(context)._launch(context)
            return RunningProgram(launch, context.timeout_s, context.tell, find=members)
        cluster = services.enter_context(
            SparkCluster(
                workers=self.cluster.workers,
                cores=self.cluster.cores,
                memory=self.memory,
                scratch=context.scratch,
                logs=context.logs,
                launcher=context.launcher,
            )
        )
        cores = {} if self.cores is None else {"spark.cores.max": self.cores}
        conf = {**cluster.session_conf(), **cores, **self.conf}
        at = {"master": cluster.url, "cluster": None, "shuffle_partitions": self.keyed_tasks}
        on_cluster = self.model_copy(update={**at, "conf": conf})
        launch = on_cluster._with_jars(context)._launch(context)
        return RunningProgram(
            launch,
            context.timeout_s,
            context.tell,
            services,
            cluster.processes,
            find=members,
            revived=cluster.revived,
        )

    def _with_jars(self, context: SystemContext) -> SparkBase:
        """Jars of `spark.jars` alone are not seen by every class loader of the driver."""
        if not context.jars:
            return self
        conf: Conf = {"spark.driver.extraClassPath": ":".join(map(str, context.jars))}
        if not is_local(self.url):
            conf["spark.jars"] = ",".join(map(str, context.jars))
        return self.model_copy(update={"conf": {**conf, **self.conf}})

    def _launch(self, context: SystemContext) -> Callable[[], Component]:
        path = context.scratch / "spark-system.json"
        path.write_text(self.model_dump_json())
        kind = f"{type(self).__module__}:{type(self).__name__}"
        return partial(
            Component,
            "spark",
            module_argv(self.program, kind, str(path), str(context.scratch)),
            log=context.logs / "spark.log",
            launcher=context.launcher,
            env={**find_java().env(context.scratch), **spark_env(self.url)},
            cpus=self.cpus or (),
        )

    def settings(self) -> dict[str, str]:
        """All spark.* settings that follow from the parameters; those in `conf` win."""
        settings = {
            "spark.driver.memory": self.memory,
            "spark.executor.memory": self.memory,
            "spark.sql.shuffle.partitions": str(self.keyed_tasks),
            # Hadoop's default forks a process per file on a machine without its native library.
            "spark.sql.streaming.checkpointFileManagerClass": (
                "org.apache.spark.sql.execution.streaming.checkpointing."
                "FileSystemBasedCheckpointFileManager"
            ),
            "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
            # Its progress reports are kept for the advice on tuning.
            "spark.sql.streaming.numRecentProgressUpdates": "1000",
        }
        if self.cores is not None:
            settings["spark.cores.max"] = str(self.cores)
        for key, value in self.conf.items():
            settings[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return settings

    @property
    def url(self) -> str:
        """Of the master that the program connects to."""
        return self.master or self.default_master

    @property
    def cores_used(self) -> int:
        if self.cluster is not None:
            return self.cores or self.cluster.workers * self.cluster.cores
        numbers = re.findall(r"\d+", self.url) if is_local(self.url) else []
        if self.url.startswith("local-cluster"):
            return int(numbers[0]) * int(numbers[1])
        if self.url.startswith("local[*"):
            return os.cpu_count() or 1
        if self.url == "local":
            return 1
        return int(numbers[0]) if numbers else self.cores or 2

    @property
    def keyed_tasks(self) -> int:
        return self.shuffle_partitions or self.cores_used

    @property
    def runs_here(self) -> bool:
        return self.cluster is not None or is_local(self.url)

    def versions(self) -> dict[str, str]:
        return {"spark": version("pyspark"), "java": find_java().version}

    @property
    @abstractmethod
    def trigger_arguments(self) -> dict[str, str]:
        """Of the writer of the query."""

    @property
    def most_per_batch(self) -> int | None:
        return None


class SparkSystem(SparkBase):
    """Structured Streaming in micro-batches."""

    connectors: ClassVar[Mapping[str, Connector]] = {
        "direct": Connector(
            "streamgauge.systems.spark.direct:DirectConnector",
            source="Arrow Flight from the driver's queues, through a Python streaming data source",
            sink="foreachBatch, toArrow, Arrow Flight to the driver's sink",
            targets=(PYTHON_WORKER,),
            guarantee=AT_LEAST_ONCE,
            guarantee_by_name=EXACTLY_ONCE,
        ),
        "kafka": Connector(
            "streamgauge.systems.spark.kafka:KafkaConnector",
            source="topics, through Spark's Kafka source",
            sink="Spark's Kafka sink to a topic, as JSON",
            jars="spark-kafka-connector",
            guarantee=AT_LEAST_ONCE,
            follows_results=True,
        ),
    }

    trigger: DurationUs = Field(
        default=0, description="micro-batch interval; 0 s: as soon as possible"
    )
    state_store: Literal["memory", "rocksdb"] = "memory"
    max_events_per_batch: WholeNumber | None = Field(
        default=None, ge=1, description="default: no limit"
    )

    def settings(self) -> dict[str, str]:
        store = {"spark.sql.streaming.stateStore.providerClass": _STATE_STORES[self.state_store]}
        return {**store, **super().settings()}

    @property
    def trigger_arguments(self) -> dict[str, str]:
        return {"processingTime": f"{self.trigger} microseconds"}

    @property
    def most_per_batch(self) -> int | None:
        return self.max_events_per_batch

    @property
    def bounded_pulls(self) -> bool:
        return self.max_events_per_batch is not None

    @property
    def pause_us(self) -> int:
        return self.trigger

    def own_parts(self, diagnostics: Diagnostics, rate_per_s: float) -> OwnParts:
        batches = [BatchProgress.model_validate(batch) for batch in diagnostics]
        totals = [batch.total_ms for batch in batches]
        computed = [batch.compute_ms for batch in batches]
        return of_micro_batches(totals, computed, self.trigger / 1_000, rate_per_s)

    def limits(self, evidence: Evidence, diagnostics: Diagnostics) -> list[Limit]:
        return spark_limits(
            SparkEvidence(
                measured=evidence,
                batches=[BatchProgress.model_validate(batch) for batch in diagnostics],
                state_store=self.state_store,
                shuffle_partitions=self.keyed_tasks,
                memory_mb=_megabytes(self.memory),
            )
        )


def _megabytes(size: str) -> float:
    """2g → 2048."""
    return float(int(size[:-1]) * 1024.0 ** ("kmgt".index(size[-1]) - 1))
