"""A user's program through a real broker: plain confluent-kafka, without streamgauge or PySpark."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from streamgauge.channels.kafka.client import make_topics
from streamgauge.errors import ComponentError, ExitCode, ExperimentError
from streamgauge.experiments.running.log import Progress, RunLog
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.trial import Trial
from streamgauge.measure.summary import Verdict
from streamgauge.measure.verdict import judge
from tests.conformance.suite import RATE, SECONDS, After, Pair, Run, opened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = RATE * SECONDS
ORACLE = "@results.oracle"
ANSWER = """send({"id": event["id"], "fahrenheit": event["celsius"] * 9 / 5 + 32})"""
COMMAND = "{python} my_program_job.py --brokers {brokers} --in {input} --out {output}"
QUIET = {"system.quiet": "3 s"}


@pytest.fixture(scope="module")
def pair(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """One broker for all tests."""
    with opened("program", "kafka", tmp_path_factory.mktemp("program"), spark) as pair:
        yield pair


def changed(pair: Pair, name: str, replaced: dict[str, str], suffix: str = ".py") -> str:
    """A copy of one of the made files, under another name, with other text."""
    text = (pair.folder / f"my_program{suffix}").read_text()
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    (pair.folder / name).write_text(text)
    return name


def verdict_of(run: Run) -> tuple[Verdict, list[str]]:
    return judge(run.record, run.findings.validation, 10**9)


def test_a_program_that_drops_one_in_a_thousand_is_invalid_with_the_exact_count(pair: Pair) -> None:
    bug = f"""seen = globals().get("seen", 0) + 1
    if seen % 1_000:
        {ANSWER}"""
    job = changed(pair, "dropping.py", {ANSWER: bug}, "_job.py")
    command = COMMAND.replace("my_program_job.py", job)
    run = pair.run(**{"system.command": command}, **QUIET)
    found = run.findings.validation
    assert (found.expected, found.missing) == (EVENTS, EVENTS // 1_000)
    assert (found.extra, found.duplicate, found.wrong) == (0, 0, 0)
    assert verdict_of(run) == (Verdict.INVALID, [f"{EVENTS // 1_000:,} results are missing"])
    # The input time of a result is that of the event with its id.
    assert run.findings.latency.event_time.count == EVENTS - EVENTS // 1_000
    assert run.findings.latency.visibility.count == EVENTS - EVENTS // 1_000


def test_without_an_oracle_a_running_program_is_counted_and_the_verdict_is_unknown(
    pair: Pair,
) -> None:
    """The program converts nothing, and streamgauge neither starts nor stops it."""
    name = changed(pair, "counted.py", {ORACLE: "", ", per_event=1": ""})
    job = changed(pair, "idle.py", {"* 9 / 5 + 32})": "})", '"my_program"': '"another"'}, "_job.py")
    brokers = pair.station.service("kafka", lambda _: None)
    make_topics({"bootstrap.servers": brokers}, ["orders", "invoices"], 2, 1, {})
    argv = [sys.executable, job, "--brokers", brokers, "--in", "orders", "--out", "invoices"]
    channel = {"name": "kafka", "brokers": brokers, "topics": {"events": "orders"}}
    with subprocess.Popen(argv, cwd=pair.folder) as running:
        try:
            run = pair.run(
                system={"name": "program", "command": None, "pid": running.pid, "quiet": "3 s"},
                channel={**channel, "output": "invoices"},
                workload={"query": f"{name}:results"},
            )
            assert [one.pid for one in run.processes] == [running.pid]
            pair.station.stop_system()
            assert running.poll() is None
        finally:
            running.terminate()
    found = run.findings.validation
    assert (found.expected, found.actual, found.missing) == (EVENTS, EVENTS, 0)
    assert found.oracle.startswith("nothing")
    verdict, reasons = verdict_of(run)
    assert verdict is Verdict.UNKNOWN
    assert "no value was compared" in reasons[0]


def test_results_may_tell_the_time_of_their_input_as_text(pair: Pair) -> None:
    """Then an event need not make a result for the backlog to be seen. This one has a parent,
    which ends with it."""
    timed = """
    at = datetime.fromtimestamp(event["event_time"] / 1e6, timezone.utc).isoformat()
    if event["sensor"] % 2:
        send({"id": event["id"], "fahrenheit": event["celsius"] * 9 / 5 + 32, "at": at})"""
    imports = {"import signal\n": "import signal\nfrom datetime import datetime, timezone\n"}
    job = changed(pair, "telling.py", {ANSWER: timed, **imports}, "_job.py")
    name = changed(
        pair,
        "odd.py",
        {
            "per_event=1": 'input_time="at"',
            "return events.select(": 'return events.where("sensor % 2 = 1").select(',
        },
    )
    command = COMMAND.replace("my_program_job.py", job)
    run = pair.run(
        **{
            "system.command": f'bash -c "{command}; true"',
            "workload": {"query": f"{name}:results"},
        },
        **QUIET,
    )
    found = run.findings.validation
    assert 0 < (found.expected or 0) < EVENTS
    assert verdict_of(run) == (Verdict.VALID, [])
    assert run.findings.latency.event_time.count == found.expected
    assert sum(source.drained for source in run.record.instances) > (found.expected or 0)
    assert run.idle == []
    assert [one for one in psutil.process_iter(["cmdline"]) if job in str(one.info)] == []


def test_results_without_a_time_need_their_number_per_event(pair: Pair) -> None:
    name = changed(pair, "timeless.py", {", per_event=1": ""})
    with pytest.raises(ExperimentError, match="latest_event_time") as raised:
        pair.run(**{"workload": {"query": f"{name}:results"}}, **QUIET)
    assert "per_event" in raised.value.fix
    assert raised.value.exit_code == ExitCode.USAGE


def test_a_program_that_dies_at_its_start_fails_the_run_with_its_log(pair: Pair) -> None:
    with pytest.raises(ComponentError, match="the program died: no such thing") as raised:
        pair.run(**{"system.command": """{python} -c 'raise ValueError("no such thing")'"""})
    assert raised.value.exit_code == ExitCode.COMPONENT
    assert raised.value.log is not None
    assert "no such thing" in raised.value.log.read_text()


def test_a_program_that_dies_under_load_fails_the_run(pair: Pair) -> None:
    # In a group of its own: the broker waits 45 s for a member that has not left.
    bug = {ANSWER: 'raise ValueError("enough")', '"my_program"': '"dying"'}
    job = changed(pair, "dying.py", bug, "_job.py")
    command = COMMAND.replace("my_program_job.py", job)
    with pytest.raises(ComponentError, match="the program died: enough"):
        pair.run(**{"system.command": command})


def test_a_program_that_runs_on_finishes_a_probe_before_the_next_one(pair: Pair) -> None:
    plan = pair.plan(**QUIET)
    directory = RunDirectory.inside(pair.folder / "probe")
    trial = Trial(plan, directory, pair.station, RunLog(), lambda _: None)
    with trial.processes():
        trial.start()
        trial.running.runs_on = True
        trial.load([After(1.5)], at_once=True)
        trial.abandon()
        final = trial.with_figures(Progress("load", ""))
    assert 0 < (final.results or 0) < EVENTS
    assert final.queued == 0


@pytest.mark.parametrize(
    ("command", "cause", "fix"),
    [
        ("no-such-program {input}", "there is no program `no-such-program`", "{python}"),
        ("./no-such-file {input}", "there is no program `./no-such-file` in ", "its path"),
        ("{python} {inptu}", "there is no placeholder {inptu}", "did you mean `input`?"),
        ("{python} {input.clicks}", "there is no placeholder {input.clicks}", "input.events"),
        ("{python} 'open", "cannot be read", "quotes"),
        ("''", "is empty", "null"),
    ],
)
def test_a_command_that_cannot_work_is_refused_before_anything_starts(
    command: str, cause: str, fix: str, pair: Pair
) -> None:
    with pytest.raises(ExperimentError) as raised:
        pair.plan(**{"system.command": command})
    assert raised.value.key == "system.command"
    assert cause in raised.value.problem
    assert fix in raised.value.fix
    assert raised.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("system", "channel", "key"),
    [
        ({"command": None}, {}, "channel.brokers"),
        ({"command": None}, {"brokers": "host:1"}, "channel.output"),
        ({"command": None}, {"brokers": "host:1", "output": "o"}, "channel.topics.events"),
        ({"command": "ls", "pid": 1}, {}, "system.pid"),
        ({"command": "ls", "folder": "nowhere"}, {}, "system.folder"),
        ({}, {}, "system.command"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    system: dict[str, Any], channel: dict[str, Any], key: str, pair: Pair
) -> None:
    with pytest.raises(ExperimentError) as raised:
        pair.plan(system={"name": "program", **system}, channel={"name": "kafka", **channel})
    assert raised.value.key == key


def test_a_shell_variable_is_no_placeholder(pair: Pair) -> None:
    pair.plan(**{"system.command": 'bash -c "exec ${SHELL} {input} {input.events}"'})
