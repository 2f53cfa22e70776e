"""Yahoo! in real runs with a Redis beside the topic of the results."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streamgauge.experiments.running.stopping import Action
from streamgauge.measure.summary import Validation, Verdict
from streamgauge.measure.verdict import judge
from tests.conformance.suite import Run, kill_and_restart, opened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamgauge.systems.running import RunningSystem

pytestmark = pytest.mark.xdist_group("pairs-kafka")
PATIENCE_S = 30.0
WORKLOAD = {"query": "yahoo", "window": "2 s", "campaigns": 20}


def differences(found: Validation) -> dict[str, int | None]:
    names = ("missing", "extra", "wrong")
    return {name: getattr(found, f"mirror_{name}") for name in names}


def judged(run: Run) -> tuple[Verdict, list[str]]:
    return judge(run.record, run.findings.validation, 60_000_000)


def test_redis_holds_the_final_counts_of_the_dual_paradigm_runtime(
    tmp_path: Path, spark: SparkSession, redis_address: str
) -> None:
    with opened("dual", "kafka", tmp_path, spark) as pair:
        changes = {"services__redis": redis_address, "system__rehearsal": 0}
        run = pair.run(workload=WORKLOAD, **changes)
        run.check_complete()
        assert run.record.mirrored_in == "redis"
        assert differences(run.findings.validation) == {"missing": 0, "extra": 0, "wrong": 0}
        assert judged(run) == (Verdict.VALID, [])


def test_a_killed_program_fills_redis_again_and_a_planted_count_is_found(
    tmp_path: Path, spark: SparkSession, redis_address: str
) -> None:
    import redis

    client: Any = redis.Redis.from_url(redis_address, decode_responses=True)
    client.flushall()

    def plant(_: RunningSystem) -> None:
        # On a busy machine the first result may take longer than the time of this action.
        deadline_s = time.monotonic() + PATIENCE_S
        while not (names := client.keys("streamgauge-????????")) and time.monotonic() < deadline_s:
            time.sleep(0.05)
        (name,) = names
        client.hset(f"{name}:{client.srandmember(name)}", 7, 1)

    with opened("spark", "kafka", tmp_path, spark) as pair:
        timeline = [
            Action(2_500_000, "plant a count", plant),
            Action(3_000_000, "kill and restart", kill_and_restart),
        ]
        changes = {"services__redis": redis_address, "load__instances": 1}
        run = pair.run(timeline, workload=WORKLOAD, **changes)
        run.check_complete(duplicates=True)
        # All that was written before the program was killed is right again in the end.
        assert differences(run.findings.validation) == {"missing": 0, "extra": 1, "wrong": 0}
        reasons = ["redis does not hold the last results: 1 extra"]
        assert judged(run) == (Verdict.INVALID, reasons)
        again = pair.run(workload=WORKLOAD, **changes)
        again.check_complete()
        assert judged(again) == (Verdict.VALID, [])
        without = pair.run(workload=WORKLOAD)
        assert without.record.mirrored_in == ""
        assert set(differences(without.findings.validation).values()) == {None}
