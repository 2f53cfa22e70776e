"""What else the machine does, with a busy process and another run beside the tests."""

from __future__ import annotations

import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from streamgauge.processes.machine import CpuTime, OtherWork, cpu_time, other_work

BUSY = "while True: pass"
ANOTHER_RUN = """
from streamgauge.processes.guard import Guard
with Guard():
    print("ready", flush=True)
    input()
"""


@contextmanager
def running(program: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_busy_program_is_seen_and_the_busiest_is_named() -> None:
    with running(BUSY):
        found = other_work()
    assert found.used > 0.1
    assert "pid" in found.busiest


def test_another_run_is_seen_as_long_as_it_goes_on() -> None:
    with running(ANOTHER_RUN) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        found = other_work(seconds=0)
        assert found.runs >= 1
        assert found.is_much
        process.communicate(b"\n")


@pytest.mark.parametrize(
    ("others", "much", "words"),
    [
        (OtherWork(8, used=1.0, busiest="`java`"), False, "use 1.0 of 8 core(s)"),
        (OtherWork(2, used=1.0, busiest="`java`"), True, "the busiest is `java`"),
        (OtherWork(2, used=0.8, stolen=0.7), True, "0.7 of these go to other virtual machines"),
        (OtherWork(8, used=0.0, runs=1), True, "1 other run(s) of streamgauge"),
    ],
)
def test_what_is_much_depends_on_the_machine(others: OtherWork, much: bool, words: str) -> None:
    assert others.is_much is much
    assert words in str(others)


def test_stolen_time_is_busy_and_waiting_for_a_disk_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    times = namedtuple("times", "user system idle iowait steal guest")
    monkeypatch.setattr(psutil, "cpu_times", lambda: times(10.0, 5.0, 100.0, 7.0, 2.0, 3.0))
    assert cpu_time() == CpuTime(busy_s=17.0, stolen_s=2.0)
