"""Pipelines that switch at random times, or are killed meanwhile, checked against plain Python.

    python -m tests.dual.exactness --runs 50 --kills 20

starts a broker of its own. Without a kill, all runs share one session of Spark. With one, each run
is a process that is killed in the middle of a switch and started again on its folder.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from streamgauge import dual
from streamgauge.dual.reports import Report
from streamgauge.dual.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WORDS = "abcdefghij"
DROPPED = "d"
RATE = 3_000
PARTITIONS = 2
QUIET_S, PATIENCE_S = 3.0, 60.0
CASES: list[tuple[bool, Any]] = [
    (False, "none"),
    (True, "none"),
    (True, ["keep"]),
    (False, ["parse"]),
    (True, "every"),
]
"""With or without state, and the cuts."""


def pipeline(stateful: bool) -> dual.Pipeline:
    from pyspark.sql import functions as F  # noqa: N812

    def parse(records: DataFrame) -> DataFrame:
        record = F.from_json(F.col("value").cast("string"), "id bigint, words string")
        return records.select(record.alias("record"), "timestamp").select("record.*", "timestamp")

    def split(lines: DataFrame) -> DataFrame:
        word = F.explode(F.split("words", " ")).alias("word")
        return lines.select("id", "timestamp", word)

    def keep(words: DataFrame) -> DataFrame:
        return words.where(F.col("word") != DROPPED)

    def count(words: DataFrame) -> DataFrame:
        return words.groupBy("word").agg(F.count("*").alias("count"), F.max("id").alias("latest"))

    def store(rows: DataFrame) -> DataFrame:
        return rows.select(F.col("word").alias("key"), F.to_json(F.struct("*")).alias("value"))

    made = dual.Pipeline("words")
    for apply in (parse, split, keep, *([count] if stateful else []), store):
        made.operation(apply)
    return made


@dataclass
class Found:
    """What a run has shown."""

    switches: int
    sent: int = 0
    missing: int = 0
    extra: int = 0
    wrong: int = 0
    surplus: int = 0
    """Of a count: what it is too high, or too low."""
    failures: int = 0
    gaps_ms: tuple[float, ...] = ()

    @property
    def exact(self) -> bool:
        return not (self.missing or self.extra or self.wrong)


class Sender:
    """Sends lines of random words at an even rate until it is stopped."""

    def __init__(self, brokers: str, topic: str, seed: int) -> None:
        from confluent_kafka import Producer

        self.lines: list[str] = []
        self._topic = topic
        self._random = random.Random(seed)
        self._producer = Producer({"bootstrap.servers": brokers, "linger.ms": 5})
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._producer.flush(30)

    def _work(self) -> None:
        began_s = time.monotonic()
        while not self._stopping.wait(0.005):
            while len(self.lines) < (time.monotonic() - began_s) * RATE:
                number, line = len(self.lines), " ".join(self._random.choices(WORDS, k=4))
                value = json.dumps({"id": number, "words": line}).encode()
                self._producer.produce(self._topic, value, partition=number % PARTITIONS)
                self.lines.append(line)
            self._producer.poll(0)


class Case:
    """One run: its topics, its folder, and the check of its results."""

    def __init__(self, brokers: str, seed: int, folder: Path) -> None:
        self.brokers, self.seed = brokers, seed
        self.stateful, self.cuts = CASES[seed % len(CASES)]
        self.topics = Topics(brokers)
        name = secrets.token_hex(4)
        self.source, self.sink = f"lines-{name}", f"words-{name}"
        for topic in (self.source, self.sink):
            self.topics.make(topic, PARTITIONS)
        self.folder = folder / name
        self.sender = Sender(brokers, self.source, seed)

    def finished(self, found: Found) -> Found:
        """Compares the results when they are right, or when none has come for a long time."""
        self.sender.stop()
        before, compared, changed_s = None, None, time.monotonic()
        while time.monotonic() < changed_s + PATIENCE_S:
            time.sleep(0.25)
            now = self.topics.ends(self.sink, PARTITIONS)
            if now != before:
                before, changed_s = now, time.monotonic()
            elif time.monotonic() > changed_s + QUIET_S and now != compared:
                compared = now
                if self.compare(found).exact:
                    break
        return self.compare(found)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.topics.close()

    def compare(self, found: Found) -> Found:
        found.sent = len(self.sender.lines)
        kept = [(n, w) for n, line in enumerate(self.sender.lines) for w in line.split()]
        kept = [one for one in kept if one[1] != DROPPED]
        rows = self._results()
        if self.stateful:
            expected = Counter(word for _, word in kept)
            last = {str(row["word"]): int(row["count"]) for row in rows}
            found.missing = len(expected.keys() - last.keys())
            found.extra = len(last.keys() - expected.keys())
            found.wrong = sum(last.get(word, n) != n for word, n in expected.items())
            found.surplus = sum(last.values()) - sum(expected.values())
        else:
            actual = Counter((row["id"], row["word"]) for row in rows)
            found.missing = sum((Counter(kept) - actual).values())
            found.extra = sum((actual - Counter(kept)).values())
        return found

    def _results(self) -> list[dict[str, Any]]:
        """In the order of each partition."""
        found = []
        for number, end in self.topics.ends(self.sink, PARTITIONS).items():
            messages = self.topics._read(self.sink, number, 0, end)
            found += [json.loads(message.value()) for message in messages]
        return found


def running(session: SparkSession, case: Any, reports: list[Report]) -> dual.Running:
    return dual.Running(
        session,
        pipeline(case.stateful),
        source=case.source,
        sink=case.sink,
        brokers=case.brokers,
        checkpoint=case.folder,
        cuts=case.cuts,
        settings=dual.DualSettings(fixed=True, commit_s=5),
        on_report=reports.append,
    )


def switch_one(run: dual.Running, chance: random.Random) -> None:
    one = chance.choice(run.runtime.active)
    run.switch(one.segment.names[0], one.paradigm.other)


def with_switches(session: SparkSession, brokers: str, seed: int, folder: Path) -> Found:
    """A run in this process with at least three switches at random times."""
    case, chance = Case(brokers, seed, folder), random.Random(seed)
    reports: list[Report] = []
    run = running(session, case, reports)
    switches = chance.randint(3, 5)
    for _ in range(switches):
        time.sleep(chance.uniform(0.2, 3.0))
        switch_one(run, chance)
    found = case.finished(Found(switches))
    run.stop()
    gaps = [r.gap_ms for r in reports if r.event == "dual-switched"]  # type: ignore[attr-defined]
    found.failures = sum(report.event == "dual-failed" for report in reports)
    found.gaps_ms = tuple(gap for gap in gaps if gap is not None)
    case.close()
    if run.failure is not None:
        raise run.failure
    return found


def with_kill(brokers: str, seed: int, folder: Path) -> Found:
    """A run that loses its runtime, its JVM or its queries in the middle of a switch."""
    case, chance = Case(brokers, seed, folder), random.Random(seed)
    kind = ("runtime", "jvm", "queries")[seed % 3]
    argv = [sys.executable, "-m", "tests.dual.exactness", "--child"]
    argv += [brokers, case.source, case.sink, str(case.folder), str(seed), kind]
    log = (folder / f"child-{seed}.log").open("ab")
    switches = 0

    def start() -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=log, text=True)

    child = start()
    assert child.stdout is not None
    wanted = chance.randint(2, 3)
    for line in child.stdout:
        switches += line.startswith("switch")
        if switches == wanted:
            break
    time.sleep(chance.uniform(0.0, 1.0))
    if kind == "jvm":
        for one in psutil.Process(child.pid).children(recursive=True):
            if "java" in one.name():
                one.kill()
        child.wait(60)
    elif kind == "runtime":
        child.send_signal(signal.SIGKILL)
        child.wait(60)
    if kind != "queries":
        child = start()
    assert child.stdin is not None
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("ready" if kind != "queries" else "cancelled"):
            break
    found = case.finished(Found(switches))
    child.stdin.write("stop\n")
    child.stdin.close()
    child.wait(60)
    case.close()
    return found


class _Printed(list[Report]):
    """Reports for the log of the process."""

    def append(self, report: Report) -> None:
        if report.event != "dual-seen":
            print(report.event, report.model_dump_json(), file=sys.stderr, flush=True)


@dataclass
class _Given:
    brokers: str
    source: str
    sink: str
    folder: Path
    stateful: bool
    cuts: Any


def child(arguments: list[str]) -> None:
    """The process that is killed: it switches until it is stopped."""
    brokers, source, sink, folder, seed, kind = arguments
    stateful, cuts = CASES[int(seed) % len(CASES)]
    again = Path(folder).exists()
    session = open_session(Path(folder).parent / f"spark-{secrets.token_hex(3)}")
    given = _Given(brokers, source, sink, Path(folder), stateful, cuts)
    run = running(session, given, _Printed())
    print("ready", flush=True)
    chance, stopping = random.Random(int(seed)), threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stopping.set()), daemon=True).start()
    number = 0
    while not stopping.wait(chance.uniform(0.2, 2.0)) and not again:
        print("switch", flush=True)
        number += 1
        if kind == "queries" and number == 3:
            canceller = threading.Timer(
                chance.uniform(0.0, 0.6), session.sparkContext.cancelAllJobs
            )
            canceller.start()
            switch_one(run, chance)
            canceller.join()
            print("cancelled", flush=True)
            break
        switch_one(run, chance)
    stopping.wait()
    run.stop()


def open_session(scratch: Path) -> SparkSession:
    import os

    from streamgauge.compute.java import find_java
    from streamgauge.compute.session import open_session as opened
    from streamgauge.dual.spark.session import SETTINGS
    from streamgauge.processes.launcher import Launcher
    from streamgauge.services.jars import have_jars

    scratch.mkdir(parents=True, exist_ok=True)
    os.environ.update(find_java().env(scratch))
    jars = have_jars("spark-kafka-connector", Launcher({}), lambda _: None)
    conf = {
        **SETTINGS,
        "spark.driver.extraClassPath": ":".join(map(str, jars)),
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": str(PARTITIONS),
    }
    session = opened("exactness", "local[16]", scratch, conf)
    # A query that is stopped in the middle of its work logs the traces of all of its tasks.
    session.sparkContext.setLogLevel("OFF")
    return session


def main() -> int:
    from streamgauge.processes.guard import Guard
    from streamgauge.processes.launcher import Launcher
    from streamgauge.services.kafka import KafkaBroker

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--brokers", help="default: one is started")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="streamgauge-exactness-"))
    found: list[Found] = []
    with ExitStack() as stack:
        brokers = given.brokers
        if brokers is None:
            guard = stack.enter_context(Guard())
            place, launcher = guard.scratch / "broker", Launcher(guard.env)
            broker = KafkaBroker(folder=place, logs=folder, launcher=launcher)
            brokers = stack.enter_context(broker).address
        seeds = range(given.first_seed, given.first_seed + max(given.runs, given.kills))
        for seed in seeds[: given.kills]:
            found.append(with_kill(brokers, seed, folder))
            print(f"kill, seed {seed}: {found[-1]}", flush=True)
        session = open_session(folder / "spark") if given.runs else None
        for seed in seeds[: given.runs]:
            assert session is not None
            found.append(with_switches(session, brokers, seed, folder))
            print(f"switches, seed {seed}: {found[-1]}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    exact, switches = sum(one.exact for one in found), sum(one.switches for one in found)
    gaps = sorted(gap for one in found for gap in one.gaps_ms)
    print(f"{exact} of {len(found)} exact, {switches} switches; ", end="")
    if gaps:
        middle, high = gaps[len(gaps) // 2], gaps[int(0.95 * len(gaps))]
        print(f"gap: median {middle:,.0f} ms, p95 {high:,.0f} ms, longest {gaps[-1]:,.0f} ms")
    return 0 if exact == len(found) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    else:
        sys.exit(main())
