"""Services that stand between runs: started and stopped by the user, and used by every run."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil

from streamgauge import plugins
from streamgauge.errors import ComponentError
from streamgauge.models import StrictModel
from streamgauge.processes.guard import MARKER, lives, marked
from streamgauge.processes.launcher import Launcher
from streamgauge.processes.roles import RoleProcess
from streamgauge.services.base import STOP_TIMEOUT_S, Service, Tell, cache_folder

FOLDER = "STREAMGAUGE_STANDING_SERVICE"
"""Environment variable that marks the processes of a standing service; its value is the folder."""
_SAME_S = 1.0
"""Two readings of the moment at which a process began may differ by less than this."""


class Standing(StrictModel):
    """A standing service, as its state file describes it."""

    name: str
    role: str
    pid: int
    created_s: float
    """When the process began, in seconds since 1970; another process may get its pid later."""
    address: str
    log: Path

    @property
    def process(self) -> psutil.Process | None:
        """None if it has ended."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            if abs(process.create_time() - self.created_s) < _SAME_S and lives(process):
                return process
        return None

    def check(self) -> None:
        """Fails if the process has died; the error names it and its log."""
        if self.process is None:
            fix = "see its log; `streamgauge services up` starts it again"
            raise ComponentError(f"{self.name} died", fix=fix, log=self.log)

    def processes(self) -> list[RoleProcess]:
        return [] if self.process is None else [RoleProcess(self.role, self.role, self.pid)]


def standing(kind: str) -> Standing | None:
    """The service of that kind, if it is up."""
    found = _read(_folder(kind))
    return found if found is not None and found.process is not None else None


def up(kind: str, tell: Tell) -> Standing:
    """Starts it unless it is up; it outlives this process."""
    service_type: type[Service] = plugins.load("services", kind, key="services")
    with _alone(kind) as folder:
        if found := standing(kind):
            return found
        _clear(folder, service_type)
        service = service_type(
            folder=folder / "data",
            logs=folder,
            # No guard may take it for a part of a run.
            launcher=Launcher({MARKER: None, FOLDER: str(folder)}),
            tell=tell,
            standing=True,
        )
        service.start()
        (process,) = service.processes()
        found = Standing(
            name=service.name,
            role=service.role,
            pid=process.pid,
            created_s=psutil.Process(process.pid).create_time(),
            address=service.address,
            log=service.log,
        )
        _state(folder).write_text(found.model_dump_json())
        return found


def down(kind: str) -> bool:
    """Stops it and removes its data; False if it was not up."""
    service_type: type[Service] = plugins.load("services", kind, key="services")
    with _alone(kind) as folder:
        was_up = standing(kind) is not None
        _clear(folder, service_type)
        return was_up


def _clear(folder: Path, service_type: type[Service]) -> None:
    """Removes what a service has left, also one that was killed during its start."""
    found = {*marked(str(folder), FOLDER)}
    # The environment of another user's process cannot be read everywhere.
    if (state := _read(folder)) and (process := state.process):
        found.add(process)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.send_signal(service_type.stop_signal)
    _, left = psutil.wait_procs(found, STOP_TIMEOUT_S)
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, STOP_TIMEOUT_S)
    shutil.rmtree(folder, ignore_errors=True)


def _folder(kind: str) -> Path:
    return cache_folder() / "services" / kind


def _state(folder: Path) -> Path:
    return folder / "state.json"


def _read(folder: Path) -> Standing | None:
    try:
        return Standing.model_validate_json(_state(folder).read_text())
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def _alone(kind: str) -> Iterator[Path]:
    """The folder of the service, while no other command starts or stops it."""
    folder = _folder(kind)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
