"""From a pipeline to its segments: where it is cut, the topics between, and where it begins."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from streamgauge.dual.pipeline import Operation, Pipeline
from streamgauge.dual.spark.folder import Folder, Standing, wait_for_end
from streamgauge.dual.spark.segment import Segment, check_segments
from streamgauge.dual.topics import Topics
from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cuts = Literal["auto", "every", "none"] | Sequence[str]
"""Between which operations records go through a topic: where it pays, between all, between none, or
behind those that are named."""
Divisions = Sequence[tuple[Operation, ...]]
"""The operations of each segment."""
Starting = Literal["earliest", "latest"]


def divided(pipeline: Pipeline, cuts: Cuts) -> list[tuple[Operation, ...]]:
    """The operations of each segment."""
    if not pipeline.operations:
        raise StreamgaugeError(f"the pipeline `{pipeline.name}` has no operation", fix="add one")
    behind = pipeline.names if cuts == "every" else [] if cuts == "none" else list(cuts)
    for name in behind:
        if name not in pipeline.names:
            known = ", ".join(pipeline.names)
            raise StreamgaugeError(
                f"there is no operation `{name}` to cut behind", fix=f"choose from: {known}"
            )
    segments: list[tuple[Operation, ...]] = []
    begun: list[Operation] = []
    for operation in pipeline.operations:
        begun.append(operation)
        if operation.name in behind:
            segments.append(tuple(begun))
            begun = []
    return [*segments, tuple(begun)] if begun else segments


def built(
    session: SparkSession,
    divisions: Divisions,
    topics: Sequence[str],
    partitions: int,
    client: Mapping[str, str],
) -> list[Segment]:
    """The segments between the topics; refused if they could not be run exactly."""
    segments: list[Segment] = []
    for place, operations in enumerate(divisions):
        segments.append(
            Segment(
                session=session,
                operations=operations,
                source=topics[place],
                sink=topics[place + 1],
                partitions=partitions,
                client=client,
                reads=segments[-1].returns if segments else None,
                last=place == len(divisions) - 1,
            )
        )
    check_segments(segments)
    return segments


def begin(
    session: SparkSession,
    topics: Topics,
    folder: Folder,
    divisions: Divisions,
    source: str,
    sink: str,
    starting: Starting,
) -> Standing:
    """Where the pipeline goes on, or where it begins now; makes the topics between segments."""
    names = tuple(tuple(one.name for one in operations) for operations in divisions)
    found, pid = folder.read(), _jvm_pid(session)
    if found is not None:
        if (found.operations, found.topics[0], found.topics[-1]) != (names, source, sink):
            raise StreamgaugeError(
                f"{folder.path} belongs to another pipeline, or to other cuts or topics",
                fix="use another folder, or remove this one to begin anew",
            )
        if found.pid != pid:
            wait_for_end(found.pid)
        standing = found.model_copy(update={"pid": pid})
    else:
        partitions = _existing(topics, source)
        between = [f"{sink}-{names[n][-1]}-{secrets.token_hex(3)}" for n in range(len(names) - 1)]
        for topic in between:
            topics.make(topic, partitions)
        _check_sink(topics, sink, partitions)
        chain = (source, *between, sink)
        bounds = topics.starts if starting == "earliest" else topics.ends
        begins = [bounds(source, partitions)]
        begins += [topics.ends(topic, _existing(topics, topic)) for topic in chain[1:]]
        standing = Standing(operations=names, topics=chain, begins=tuple(begins), pid=pid)
    folder.write(standing)
    return standing


def _existing(topics: Topics, topic: str) -> int:
    partitions = topics.partitions(topic)
    if partitions is None:
        raise StreamgaugeError(
            f"there is no topic `{topic}`", fix="make it, or see whether the name is right"
        )
    return partitions


def _check_sink(topics: Topics, sink: str, partitions: int) -> None:
    found = _existing(topics, sink)
    if found < partitions:
        raise StreamgaugeError(
            f"the topic `{sink}` has {found} partitions, the source has {partitions}: the results "
            "of a record go to the partition of its number",
            fix=f"give the topic {partitions} partitions or more",
        )


def _jvm_pid(session: SparkSession) -> int:
    jvm = session._jvm
    assert jvm is not None
    return int(jvm.java.lang.ProcessHandle.current().pid())
