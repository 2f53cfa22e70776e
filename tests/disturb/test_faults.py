"""What faults do, to real processes and files."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from streamgauge.disturb.base import FaultFailed
from streamgauge.disturb.checkpoints import Corrupt, Fill, Lose
from streamgauge.disturb.processes import Kill, Pause, Restart, Slow
from streamgauge.processes.roles import RoleProcess
from streamgauge.processes.small_disks import small_disk, why_no_small_disk
from streamgauge.processes.targets import Revived

BUSY = "while True: pass"


class Stage:
    """A scene with real processes."""

    def __init__(self, processes: Sequence[RoleProcess], checkpoint: Path) -> None:
        self._processes = processes
        self.checkpoint = checkpoint
        self.ending = threading.Event()
        self.again: Revived | None = None

    def processes(self, target: str) -> Sequence[RoleProcess]:
        return [one for one in self._processes if one.role == target]

    def revived(self, _: RoleProcess) -> Revived | None:
        return self.again

    def cut_connection(self, target: str, for_s: float) -> None:
        raise NotImplementedError

    def wait(self, seconds: float) -> bool:
        return not self.ending.wait(seconds)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    children = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    processes = [RoleProcess("worker", f"worker {n}", one.pid) for n, one in enumerate(children)]
    yield Stage(processes, tmp_path)
    for child in children:
        child.kill()
        child.wait()


def status(stage: Stage, number: int) -> str:
    return psutil.Process(stage.processes("worker")[number].pid).status()


def test_the_draw_chooses_the_process_that_is_killed(stage: Stage) -> None:
    victims: list[str] = []
    Kill().do(stage, "worker", 3, victims.append)
    assert victims == ["worker 1"]
    pid = stage.processes("worker")[1].pid
    assert psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    assert status(stage, 0) != psutil.STATUS_ZOMBIE


def test_a_paused_process_stands_still_until_the_end(stage: Stage) -> None:
    seen: list[str] = []
    fault = Pause.model_validate({"for": "200 ms"})
    fault.do(stage, "worker", 0, lambda _: seen.append(status(stage, 0)))
    assert seen == [psutil.STATUS_STOPPED]
    assert status(stage, 0) != psutil.STATUS_STOPPED


def test_a_process_goes_on_at_once_when_the_load_ends(stage: Stage) -> None:
    stage.ending.set()
    began = time.monotonic()
    Pause.model_validate({"for": "1 min"}).do(stage, "worker", 0, lambda _: None)
    assert time.monotonic() < began + 30
    assert status(stage, 0) != psutil.STATUS_STOPPED


def test_a_slowed_process_has_less_time_than_another(stage: Stage) -> None:
    def used(number: int) -> float:
        times = psutil.Process(stage.processes("worker")[number].pid).cpu_times()
        return times.user + times.system

    before = used(0), used(1)
    Slow.model_validate({"for": "3 s", "by": "90 %"}).do(stage, "worker", 0, lambda _: None)
    slowed, other = used(0) - before[0], used(1) - before[1]
    assert slowed < other
    assert status(stage, 0) != psutil.STATUS_STOPPED


def test_nobody_restarts_what_nobody_starts_again(stage: Stage) -> None:
    with pytest.raises(FaultFailed, match="nobody would start worker 0 again"):
        Restart().do(stage, "worker", 0, lambda _: None)


def test_a_service_is_ended_and_started_again(stage: Stage) -> None:
    done: list[str] = []

    class Noted:
        def end(self, *, at_once: bool) -> None:
            done.append("killed" if at_once else "ended")

        def revive(self) -> None:
            done.append("started")

    stage.again = Noted()
    Kill().do(stage, "worker", 0, done.append)
    Restart().do(stage, "worker", 0, done.append)
    assert done == ["killed", "worker 0", "started", "ended", "worker 0", "started"]


def test_a_target_that_is_gone_is_said(stage: Stage) -> None:
    with pytest.raises(FaultFailed, match="there was no executor"):
        Kill().do(stage, "executor", 0, lambda _: None)


def test_the_newest_file_of_the_checkpoint_is_damaged_or_removed(stage: Stage) -> None:
    for place, name in enumerate(("offsets/1", "offsets/2", "commits/1", "commits/.2.tmp")):
        path = stage.checkpoint / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"content {place}")
        time.sleep(0.02)
    victims: list[str] = []
    Corrupt().do(stage, "checkpoint", 0, victims.append)
    Corrupt(part="offsets").do(stage, "checkpoint", 0, victims.append)
    Lose().do(stage, "checkpoint", 0, victims.append)
    assert victims[:2] == ["commits/1", "offsets/2"]
    assert not (stage.checkpoint / victims[2]).exists()
    assert (stage.checkpoint / "offsets/1").read_text() == "content 0"
    with pytest.raises(FaultFailed, match="no file with `state`"):
        Lose(part="state").do(stage, "checkpoint", 0, victims.append)


@pytest.mark.skipif(bool(why_no_small_disk()), reason="no small file system can be made")
def test_a_full_disk_takes_nothing_until_it_is_emptied(stage: Stage) -> None:
    full: list[bool] = []

    def write(_: str) -> None:
        try:
            (stage.checkpoint / "state").write_bytes(bytes(100_000))
        except OSError:
            full.append(True)

    with small_disk(stage.checkpoint, wanted=True):
        Fill.model_validate({"for": "10 ms"}).do(stage, "checkpoint disk", 0, write)
        assert full == [True]
        (stage.checkpoint / "state").write_bytes(bytes(100_000))
    assert not stage.checkpoint.is_mount()
