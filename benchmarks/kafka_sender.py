"""How fast one process sends through Kafka: ours beside a plain loop and Kafka's own producer."""

from __future__ import annotations

import re
import secrets
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.results import Figure
from streamgauge import Choice, Keys, StreamSpec, Uuid, Whole
from streamgauge.channels.kafka.client import make_topics
from streamgauge.channels.kafka.messages import encoded
from streamgauge.channels.kafka.sender import Sender, SenderConfig
from streamgauge.compute.java import find_java
from streamgauge.driver.config import LoadConfig, ScheduleConfig, StreamConfig, in_turn
from streamgauge.processes.guard import Guard
from streamgauge.processes.launcher import Launcher
from streamgauge.services.jars import have_jars
from streamgauge.services.kafka import JARS, KafkaBroker

RATE = 500_000
SECONDS = 6
ROUNDS = 3
PARTITIONS = 2
MESSAGES = 2_000_000
MAX_LAG_MS = 100
"""The default of `load.max_lag`."""
CLIENT = {
    "acks": "all",
    "log_level": 2,
    "linger.ms": 5,
    "batch.size": 262_144,
    "batch.num.messages": 1_000_000,
    "queue.buffering.max.messages": 2_000_000,
    "queue.buffering.max.kbytes": 1_048_576,
}
EVENTS = StreamSpec(
    columns={
        "id": Uuid(),
        "sensor": Keys(size=1_000),
        "at": Whole(low=10, high=99),
        "state": Choice(values=("calm", "warm")),
    }
)


def measure_sender(folder: Path) -> Iterator[Figure]:
    """Messages of 100 bytes from one process to a broker on this machine, acknowledged by it."""
    with Guard() as guard:
        launcher = Launcher(guard.env)
        logs = folder / "kafka"
        with KafkaBroker(folder=guard.scratch / "kafka", logs=logs, launcher=launcher) as broker:
            client = {"bootstrap.servers": broker.address, **CLIENT}
            some = encoded(_load(RATE).build_feed(0).events.batch(0, 100), "json").to_pylist()
            size = statistics.mean(map(len, some))
            yield Figure("bytes of a message", size, "", least=95, most=105)
            _plain(client)
            rates = [
                (_ours(client), _plain(client), _kafka(client, launcher, guard.scratch))
                for _ in range(ROUNDS)
            ]
            ours, plain, kafkas = (statistics.median(rate) for rate in zip(*rates, strict=True))
            yield Figure("our sender, as fast as it can", ours / 1e3, "K/s")
            yield Figure("a plain loop of produce_batch", plain / 1e3, "K/s")
            yield Figure("Kafka's own ProducerPerformance", kafkas / 1e3, "K/s")
            ratio = statistics.median(one / other for one, other, _ in rates)
            yield Figure("ratio to the plain loop (median of rounds)", ratio, "×", least=0.7)
            lag_ms, rate = _on_schedule(client)
            yield Figure(f"p99 lag at {RATE:,} messages/s", lag_ms, "ms", most=MAX_LAG_MS)
            yield Figure("achieved of that rate", rate / RATE, "×", least=0.99)


def _load(rate: int, seconds: float = SECONDS) -> LoadConfig:
    schedule = ScheduleConfig(duration_us=round(seconds * 1e6), rate_per_s=rate)
    stream = StreamConfig(source=EVENTS, schedule=schedule)
    return LoadConfig(streams={"events": stream}, feeds=in_turn(["events"], 1), seed=1)


def _topic(client: dict[str, Any]) -> str:
    name = f"bench-{secrets.token_hex(4)}"
    make_topics(client, [name], PARTITIONS, 1, {})
    return name


def _sender(client: dict[str, Any], load: LoadConfig, reports: list[dict[str, Any]]) -> Sender:
    config = SenderConfig(
        load=load,
        instance=0,
        topic=_topic(client),
        partitions=PARTITIONS,
        format="json",
        client=client,
    )

    def report(event: str, **fields: Any) -> None:
        reports.append({"event": event, "at_us": time.time_ns() // 1_000, **fields})

    return Sender(config, report)


def _ours(client: dict[str, Any]) -> float:
    """All events are due at once, so that nothing but the sender sets the pace."""
    reports: list[dict[str, Any]] = []
    sender = _sender(client, _load(MESSAGES * 10, 0.1), reports)
    began = time.monotonic()
    sender.start(time.time_ns() // 1_000 - 1_000_000)
    sender.finish()
    assert reports[-1]["count"] == MESSAGES, reports[-1]
    return MESSAGES / (time.monotonic() - began)


def _on_schedule(client: dict[str, Any]) -> tuple[float, float]:
    """The p99 lag in milliseconds, and the rate that was achieved."""
    reports: list[dict[str, Any]] = []
    sender = _sender(client, _load(RATE), reports)
    start_us = time.time_ns() // 1_000 + 1_000_000
    sender.start(start_us)
    time.sleep(SECONDS)
    # Up to the moment of the last report: the next one may be a tenth of a second away.
    last = reports[-1]
    rate = last["count"] / (last["at_us"] - start_us) * 1e6
    time.sleep(1)
    sender.finish()
    lags = sorted(report["lag_us"] for report in reports)
    return lags[int(len(lags) * 0.99) - 1] / 1_000, rate


def _plain(client: dict[str, Any]) -> float:
    from confluent_kafka import Producer

    producer, topic = Producer(client), _topic(client)
    messages = [{"value": bytes(100)} for _ in range(10_000)]
    began, sent, turn = time.monotonic(), 0, 0
    while sent < MESSAGES:
        turn = (turn + 1) % PARTITIONS
        try:
            sent += producer.produce_batch(topic, messages, turn)
        except BufferError:
            producer.poll(0.01)
        producer.poll(0)
    producer.flush(60)
    return MESSAGES / (time.monotonic() - began)


def _kafka(client: dict[str, Any], launcher: Launcher, scratch: Path) -> float:
    jars = [
        *have_jars(JARS, launcher, lambda _: None),
        *have_jars("kafka-tools", launcher, lambda _: None),
    ]
    settings = [
        f"{key}={client[key]}" for key in ("bootstrap.servers", "acks", "linger.ms", "batch.size")
    ]
    command = [
        str(find_java().home / "bin" / "java"),
        *("-Xmx512m", "-cp", ":".join(map(str, jars))),
        *("org.apache.kafka.tools.ProducerPerformance", "--topic", _topic(client)),
        *("--num-records", str(MESSAGES), "--record-size", "100", "--throughput", "-1"),
        *("--producer-props", *settings),
    ]
    output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=scratch).stdout
    return float(re.findall(r"([\d.]+) records/sec", output)[-1])
