"""Yahoo! in Redis: what is refused, and that the last update of each count is what it holds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.errors import ComponentError, ExperimentError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.plan import Plan, make_plan
from streamgauge.measure.mirror import mirror_faults
from streamgauge.parts import PartWriter
from streamgauge.queries.pipelines import redis_counts
from streamgauge.queries.pipelines.redis_counts import RedisCounts, check_address, check_answer
from streamgauge.queries.pipelines.yahoo import YahooQuery
from streamgauge.services.base import HOST, free_ports
from streamgauge.systems.spark.following import newest
from tests.commands import command, options
from tests.loads import replay_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

YAHOO = "workload={query: yahoo}"
ON_KAFKA = ("channel=kafka", YAHOO)
COLUMNS = ("window_start", "campaign_id", "count")
Update = tuple[int, str, int]


def planned(*words: str) -> Plan:
    return make_plan(*read_experiment("quickstart", list(words)))


def test_without_a_redis_nothing_changes() -> None:
    plan = planned(*ON_KAFKA)
    assert plan.query.mirrored_in == ""
    assert set(plan.query.fixed_inputs(lambda table: table)) == {"ads"}
    # The direct channel has no topic, and needs none.
    assert planned("channel=direct", YAHOO).query.mirrored_in == ""


@pytest.mark.parametrize("system", ["spark", "spark-realtime", "dual"])
def test_it_is_for_every_system_with_a_topic(system: str) -> None:
    assert planned(*ON_KAFKA, f"system={system}", "services.redis=here:6379").query.mirrored_in


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["channel=direct", YAHOO, "services.redis=here:6379"], "`spark` has none with .*`direct`"),
        ([*ON_KAFKA, "services.redis=here"], "`here` is not the address of a Redis"),
        ([*ON_KAFKA, "services.redis=''"], "is missing"),
        ([*ON_KAFKA, "services.redis=redis://:word@here:6379"], "has a password"),
        (["channel=kafka", "workload={query: grep}", "services.redis=here:6379"], "unknown"),
    ],
)
def test_what_cannot_be_is_refused_with_the_plan(words: list[str], cause: str) -> None:
    with pytest.raises(ExperimentError, match=cause) as error:
        planned(*words)
    assert error.value.key == "services.redis"
    assert error.value.fix
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    "address",
    [
        "redis://here",
        "redis://here:6379/2",
        "rediss://here:6380",
        "redis://me:${env:WORD}@here:6379/0?protocol=3",
        "redis://:${file:/run/secrets/word}@here",
        "${env:REDIS}",
        "here:6379",
        "[::1]:6379",
    ],
)
def test_an_address_is_taken(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    "address",
    [
        *("here", "here:port", "here:70000", "here:6379/0", ":6379"),
        *("redis://", "redis://here/first", "redis://he re"),
        *("http://here:6379", "unix:///run/redis"),
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ExperimentError, match="is not the address of a Redis"):
        check_address(address)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(ExperimentError, match="needs the Python package `redis`") as error:
        planned(*ON_KAFKA, "services.redis=here:6379")
    assert error.value.fix == "pip install 'streamgauge[redis]'"


def test_a_redis_that_does_not_answer_ends_the_run_before_the_load(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    changes = {"workload": {"query": "yahoo"}, "channel": "kafka"}
    given = {**changes, "services.redis": f"{HOST}:{port}", "system": "spark"}
    said = command(tmp_path, "run", "quickstart", *options(given))
    assert said.returncode == 2
    assert f"services.redis: the Redis at {HOST}:{port} cannot be used" in said.stderr
    assert "fix: start it" in said.stderr
    assert "Traceback" not in said.stderr
    assert not (tmp_path / "runs" / "latest" / "logs" / "broker.log").exists()


def test_a_password_is_used_and_never_said(redis_address: str) -> None:
    with pytest.raises(ExperimentError, match="cannot be used") as error:
        check_answer(redis_address.replace("//", "//nobody:tulip@"))
    assert "tulip" not in str(error.value)


def test_a_redis_that_stops_is_waited_for_and_then_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_counts, "PATIENCE_S", 0.3)
    (port,) = free_ports(1)
    gone = RedisCounts(f"{HOST}:{port}", "name", COLUMNS)
    with pytest.raises(ComponentError, match=f"the Redis at {HOST}:{port} takes no more results"):
        gone.apply([message((0, "a", 1))])
    with pytest.raises(ComponentError, match="cannot be read"):
        list(gone.rows())


class Message:
    """As a consumer of a topic gives it."""

    def __init__(self, update: Update) -> None:
        self._update = update

    def key(self) -> bytes:
        start, campaign, _ = self._update
        return json.dumps({"window_start": start, "campaign_id": campaign}).encode()

    def value(self) -> bytes:
        return message(self._update)


def message(update: Update) -> bytes:
    return json.dumps({**dict(zip(COLUMNS, update, strict=True)), "latest_us": 7}).encode()


def held(mirror: RedisCounts) -> dict[tuple[int, str], int]:
    return {
        (row["window_start"].timestamp() * 1e6 // 1, row["campaign_id"]): row["count"]
        for batch in mirror.rows()
        for row in batch.to_pylist()
    }


UPDATES = st.lists(
    st.tuples(
        st.integers(0, 2).map(lambda window: window * 10_000_000),
        st.sampled_from(["a", "b", "ä:ö"]),
        st.integers(1, 1_000_000),
    ),
    min_size=1,
    max_size=30,
)
READS = st.lists(st.tuples(st.integers(1, 8), st.booleans()), max_size=12)
"""How many messages a read takes, and whether the program is started again after it."""


@settings(max_examples=60, deadline=None)
@given(updates=UPDATES, reads=READS)
def test_any_reads_and_replays_end_in_the_last_update_of_each_count(
    redis_address: str, updates: list[Update], reads: list[tuple[int, bool]]
) -> None:
    mirror = RedisCounts(redis_address, f"test-{uuid4()}", COLUMNS)
    messages, place = [Message(update) for update in updates], 0
    for size, again in [*reads, (len(messages), False), (len(messages), False)]:
        mirror.apply(newest(messages[place : place + size]))
        place = 0 if again else place + size
    if place < len(messages):
        mirror.apply(newest(messages[place:]))
    assert held(mirror) == {(start, campaign): count for start, campaign, count in updates}


def test_two_trials_do_not_mix_and_every_key_expires(redis_address: str) -> None:
    import redis

    names = [f"test-{uuid4()}" for _ in range(2)]
    for number, name in enumerate(names):
        RedisCounts(redis_address, name, COLUMNS).apply([message((0, "a", number))])
    found = [held(RedisCounts(redis_address, name, COLUMNS)) for name in names]
    assert found == [{(0, "a"): 0}, {(0, "a"): 1}]
    client: Any = redis.Redis.from_url(redis_address)
    for key in (names[0], f"{names[0]}:a"):
        assert 0 < client.ttl(key) <= redis_counts.KEPT_S


def test_what_redis_holds_is_compared_with_the_oracle(
    spark: SparkSession, redis_address: str, tmp_path: Path
) -> None:
    import redis

    query = YahooQuery(campaigns=3, window="1 s").placed(tmp_path, {"redis": redis_address})
    expected = query.expected(spark, replay_of(query)).cache()
    name = f"test-{uuid4()}"
    mirror = query.mirror(name)

    def faults() -> dict[str, int]:
        folder = tmp_path / uuid4().hex
        writer = PartWriter(folder)
        for batch in mirror.rows():
            writer.append(batch)
        writer.flush()
        found = mirror_faults(spark, query, folder, expected)
        return {key: count for key, count in found.items() if count}

    rows = expected.selectExpr("unix_micros(window_start)", "campaign_id", "count").collect()
    assert faults() == {"mirror_missing": len(rows)}
    mirror.apply(message(tuple(row)) for row in rows)
    assert faults() == {}
    client: Any = redis.Redis.from_url(redis_address)
    (start, campaign, count), (other, of_other, _) = rows[0], rows[1]
    client.hset(f"{name}:{campaign}", start, count + 1)
    client.hdel(f"{name}:{of_other}", other)
    client.hset(f"{name}:{campaign}", 7, 1)
    assert faults() == {"mirror_wrong": 1, "mirror_missing": 1, "mirror_extra": 1}
