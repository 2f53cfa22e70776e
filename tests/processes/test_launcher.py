"""The launcher with real processes, on this machine, in a network namespace and through a stand-in
for ssh."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamgauge.errors import ComponentError
from streamgauge.processes.guard import Guard, marked
from streamgauge.processes.launcher import LaunchedProcess, Launcher
from streamgauge.processes.places import NetworkNamespace, RemoteShell

REPORT = """
import json, os, socket, sys
print(json.dumps({
    "arguments": sys.argv[1:],
    "environment": dict(os.environ),
    "session": os.getsid(0) == os.getpid(),
    "cpus": sorted(os.sched_getaffinity(0)),
    "interfaces": [name for _, name in socket.if_nameindex()],
}))
"""
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc and CPU affinity")


def python(program: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", program, *arguments]


def report(process: LaunchedProcess) -> dict[str, object]:
    assert process.wait(30)
    assert process.exit_code == 0, process.logged()
    return dict(json.loads(process.logged()))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "process.log"


@pytest.fixture
def namespace() -> Iterator[str]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("a network namespace needs root and the command `ip`")
    name = f"streamgauge-{secrets.token_hex(4)}"
    added = subprocess.run(
        ["ip", "netns", "add", name], capture_output=True, text=True, check=False
    )
    if added.returncode != 0:
        pytest.skip(f"`ip netns add` does not work here: {added.stderr.strip()}")
    yield name
    subprocess.run(["ip", "netns", "delete", name], check=True)


@pytest.fixture
def stand_in_for_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs the last argument with a shell, as sshd does, in an environment of its own."""
    script = tmp_path / "bin" / "ssh"
    script.parent.mkdir()
    script.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{tmp_path}/ssh-arguments'\n"
        'for line; do :; done\nexec env -i PATH="$PATH" ON_THE_HOST=yes sh -c "$line"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    return tmp_path / "ssh-arguments"


def test_a_process_has_its_own_session_the_marked_environment_and_its_log(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INHERITED", "yes")
    monkeypatch.setenv("REMOVED", "yes")
    launcher = Launcher({"MARK": "run", "CHANGED": "by the run"})
    env = {"CHANGED": "by the caller", "REMOVED": None}
    process = launcher.start("it", python(REPORT, "a b"), log=log, env=env)
    found = report(process)
    environment = found["environment"]
    assert isinstance(environment, dict)
    assert environment["MARK"] == "run"
    assert environment["CHANGED"] == "by the caller"
    assert environment["INHERITED"] == "yes"
    assert "REMOVED" not in environment
    assert found["arguments"] == ["a b"]
    assert found["session"]
    assert process.site == "this machine"


def test_a_process_is_pinned_to_the_given_cpus(log: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    # The report begins after the pinning, because it waits for the end of its input.
    program = "import sys; sys.stdin.read()\nsys.stdout = sys.stderr" + REPORT
    process = Launcher({}).start("it", python(program), log=log, pipes=True, cpus=[cpu])
    process.stdin.close()
    assert report(process)["cpus"] == [cpu]
    process.stdout.close()


def test_with_pipes_only_standard_error_is_logged(log: Path) -> None:
    program = "import sys; print(sys.stdin.read()[::-1]); print('noise', file=sys.stderr)"
    process = Launcher({}).start("it", python(program), log=log, pipes=True)
    process.stdin.write(b"question")
    process.stdin.close()
    assert process.stdout.read() == b"noitseuq\n"
    process.stdout.close()
    assert process.wait(30)
    assert process.logged() == "noise\n"


def test_the_logged_text_begins_with_the_start_of_the_process(log: Path) -> None:
    for text in ("first", "second"):
        process = Launcher({}).start("it", ["echo", text], log=log)
        assert process.wait(30)
        assert process.logged() == f"{text}\n"
    assert log.read_text() == "first\nsecond\n"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("raise ValueError('too small')", "too small"),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9"),
    ],
)
def test_the_death_of_a_process_gives_cause_fix_and_log(
    log: Path, program: str, reason: str
) -> None:
    process = Launcher({}).start("the program", python(program), log=log)
    error = process.death()
    assert (error.cause, error.fix, error.log) == (
        f"the program died: {reason}",
        "see its log",
        log,
    )
    assert not process.alive


def test_a_reason_that_the_process_gave_itself_comes_before_its_log(log: Path) -> None:
    process = Launcher({}).start("it", python("raise ValueError('too small')"), log=log)
    error = process.death("no room", "make room")
    assert (error.cause, error.fix) == ("it died: no room", "make room")


def test_waiting_ends_after_the_given_time_and_signals_end_the_process() -> None:
    for end, number in (
        (LaunchedProcess.terminate, signal.SIGTERM),
        (LaunchedProcess.kill, signal.SIGKILL),
    ):
        process = Launcher({}).start("it", ["sleep", "600"], log=None)
        assert not process.wait(0.01)
        assert process.alive
        assert process.exit_code is None
        end(process)
        assert process.wait(30)
        assert process.exit_code == -number
        end(process)


def test_a_program_that_does_not_exist_is_named(log: Path) -> None:
    with pytest.raises(ComponentError, match=r"it did not start: .*no-such-program") as failure:
        Launcher({}).start("it", ["no-such-program"], log=log)
    assert "no-such-program" in failure.value.fix


def test_in_a_network_namespace_a_process_has_only_its_own_loopback(
    log: Path, namespace: str, guard: Guard
) -> None:
    launcher = Launcher(guard.env, NetworkNamespace(namespace))
    found = report(launcher.start("it", python(REPORT, "a b"), log=log))
    assert found["interfaces"] == ["lo"]
    assert found["arguments"] == ["a b"]
    assert found["session"]

    sleeper = launcher.start("it", ["sleep", "600"], log=log)
    try:
        assert [process.pid for process in marked(guard.mark)] == [sleeper.pid]
    finally:
        sleeper.kill()
        sleeper.wait()


def test_a_remote_shell_carries_pipes_environment_and_cpus(
    log: Path, stand_in_for_ssh: Path
) -> None:
    launcher = Launcher({"MARK": "run"}, RemoteShell("load-1", ("-p", "2222")))
    cpu = max(os.sched_getaffinity(0))
    env = {"TEXT": "it's $HOME; `ls` \n", "ON_THE_HOST": None}
    program = "import sys; sys.stdin.read()" + REPORT
    process = launcher.start("it", python(program), log=log, env=env, pipes=True, cpus=[cpu])
    process.stdin.close()
    found = json.loads(process.stdout.read())
    process.stdout.close()
    assert process.wait(30)
    assert found["cpus"] == [cpu]
    assert found["environment"]["TEXT"] == env["TEXT"]
    assert found["environment"]["MARK"] == "run"
    assert "ON_THE_HOST" not in found["environment"]
    arguments = stand_in_for_ssh.read_text().splitlines()
    assert arguments[:6] == ["-o", "BatchMode=yes", "-p", "2222", "--", "load-1"]
    assert process.site == "load-1"


@pytest.mark.usefixtures("stand_in_for_ssh")
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(arguments=st.lists(TEXTS, max_size=4), value=TEXTS)
def test_a_real_shell_parses_the_quoted_line_into_the_same_words(
    tmp_path: Path, arguments: list[str], value: str
) -> None:
    launcher = Launcher({"TEXT": value}, RemoteShell("host"))
    argv = ["sh", "-c", r'printf "%s\0" "$TEXT" "$@"', "sh", *arguments]
    process = launcher.start("it", argv, log=tmp_path / "quoting.log")
    assert process.wait(30)
    assert process.logged() == "".join(f"{text}\0" for text in (value, *arguments))
