"""Starts the processes of a run at a place, with the environment of the run."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from streamgauge.errors import ComponentError
from streamgauge.processes.places import THIS_MACHINE, EnvironmentChanges, Place


class Launcher:
    """Starts processes at one place; `env` marks all of them as part of the run."""

    def __init__(self, env: EnvironmentChanges, place: Place = THIS_MACHINE) -> None:
        self.env = dict(env)
        self.place = place

    def start(
        self,
        name: str,
        argv: Sequence[str],
        *,
        log: Path | None,
        env: EnvironmentChanges | None = None,
        pipes: bool = False,
        cpus: Sequence[int] = (),
        folder: Path | None = None,
    ) -> LaunchedProcess:
        """Starts a process in a session of its own, pinned to `cpus` of the place, in a folder.

        With `pipes` the parent uses its standard input and output, and only its standard error is
        logged. Otherwise its input is empty and all of its output is logged, or discarded if `log`
        is None.
        """
        changes = {**self.env, **(env or {})}
        merged = {**os.environ, **changes}
        if cpus and self.place.remote:
            argv = ["taskset", "-c", ",".join(map(str, cpus)), *argv]
        if folder is not None and self.place.remote:
            argv = ["env", "-C", str(folder), *argv]
        command = self.place.command(argv, changes)
        with contextlib.ExitStack() as stack:
            output: IO[bytes] | int = subprocess.DEVNULL
            log_start = 0
            if log is not None:
                log.parent.mkdir(parents=True, exist_ok=True)
                output = stack.enter_context(log.open("ab"))
                log_start = output.tell()
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                    stdout=subprocess.PIPE if pipes else output,
                    stderr=output,
                    cwd=None if self.place.remote else folder,
                    env={name: value for name, value in merged.items() if value is not None},
                    # Ctrl-C in a terminal signals only the parent, which stops its children.
                    start_new_session=True,
                )
            except OSError as error:
                raise ComponentError(
                    f"{name} did not start: {error.strerror}: {error.filename}",
                    fix=f"make sure that `{command[0]}` can be run on this machine",
                ) from error
        if cpus and not self.place.remote and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, cpus)
        return LaunchedProcess(name, self.place.site, log, log_start, process)


@dataclass(frozen=True)
class LaunchedProcess:
    """A process that a launcher has started; at a remote place, the local end of the connection."""

    name: str
    site: str
    log: Path | None
    _log_start: int
    _process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self.exit_code is None

    @property
    def exit_code(self) -> int | None:
        """None while the process runs; minus the signal's number when a signal ended it."""
        return self._process.poll()

    @property
    def stdin(self) -> IO[bytes]:
        """Only with `pipes`."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """Only with `pipes`."""
        assert self._process.stdout is not None
        return self._process.stdout

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits for the end of the process; False: it still runs after that time."""
        try:
            self._process.wait(None if timeout_s is None else max(0.0, timeout_s))
        except subprocess.TimeoutExpired:
            return False
        return True

    def terminate(self) -> None:
        self.send(signal.SIGTERM)

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        self._process.kill()

    def logged(self) -> str:
        """The text of the log since the start of the process."""
        if self.log is None:
            return ""
        with self.log.open("rb") as log_file:
            log_file.seek(self._log_start)
            return log_file.read().decode(errors="replace")

    def death(self, reason: str = "", fix: str = "") -> ComponentError:
        """The error for a process that has ended by itself; waits for its end.

        Without a reason, the last error in its log is taken, or its exit code.
        """
        code = self._process.wait()
        if not reason:
            reason = f"exit code {code}" if code >= 0 else f"killed by signal {-code}"
            errors = re.findall(r"(?:Exception|Error|FATAL): +(.+)", self.logged())
            if code > 0 and errors:
                reason = errors[-1].strip()
        return ComponentError(f"{self.name} died: {reason}", fix=fix or "see its log", log=self.log)
