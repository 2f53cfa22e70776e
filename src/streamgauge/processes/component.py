"""Messages between the station and its child processes: the parent's end and the child's end.

Messages are JSON lines: commands on the child's standard input, events on its standard output.
When the parent ends, the child's input ends, and then the child ends too.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from streamgauge.errors import ComponentError, StreamgaugeError, UsageError
from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from streamgauge.processes.launcher import Launcher
from streamgauge.processes.places import EnvironmentChanges

Message = dict[str, Any]
STOP_TIMEOUT_S = 8.0
LARGE_ARRAYS = {"MALLOC_MMAP_THRESHOLD_": "67108864", "MALLOC_TRIM_THRESHOLD_": "268435456"}
"""Environment of processes that often allocate large arrays: glibc then reuses the memory. By
default it returns each array to the kernel, and the page faults of the next one take twice as long
as filling it."""
_POLL_S = 0.2


class Component:
    """A child process that answers commands with events."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        *,
        log: Path,
        launcher: Launcher,
        cpus: Sequence[int] = (),
        env: EnvironmentChanges | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.name = name
        self.log = log
        self.latest: dict[str, Message] = {}
        """The last event of each kind."""
        self._clock = clock
        self._inbox: queue.Queue[Message | None] = queue.Queue()
        self._process = launcher.start(name, argv, log=log, env=env, pipes=True, cpus=cpus)
        threading.Thread(target=self._listen, name=f"listen-{name}", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive

    @property
    def site(self) -> str:
        return self._process.site

    def send(self, command: str, **fields: Any) -> None:
        """Sends a command; if the child has ended, the next wait for an event fails instead."""
        line = json.dumps({"command": command, **fields}).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def poll(self) -> list[Message]:
        """Events since the last call; fails if the child has died."""
        messages = []
        while not self._inbox.empty():
            message = self._inbox.get_nowait()
            if message is None:
                raise self.death()
            messages.append(message)
        return messages

    def wait_for(
        self, event: str, timeout_s: float, meanwhile: Callable[[], None] = lambda: None
    ) -> Message:
        """The next event of that kind; `meanwhile` is called while there is none."""
        deadline_s = self._clock.monotonic_s() + timeout_s
        while True:
            left_s = max(0.0, deadline_s - self._clock.monotonic_s())
            try:
                message = self._inbox.get(timeout=min(_POLL_S, left_s))
            except queue.Empty:
                meanwhile()
                if self._clock.monotonic_s() < deadline_s:
                    continue
                slow_start = "; on a slow machine raise `timeouts.start`"
                raise ComponentError(
                    f"{self.name} did not report `{event}` within {timeout_s:.0f} s",
                    fix="see its log" + slow_start * (event in ("up", "ready")),
                    log=self.log,
                ) from None
            if message is None:
                raise self.death()
            if message["event"] == event:
                return message

    def death(self) -> StreamgaugeError:
        """The error for a child that has ended by itself."""
        failure = self.latest.get("failed", {})
        reason, fix = failure.get("reason", ""), failure.get("fix", "")
        error: StreamgaugeError = self._process.death(reason, fix)
        if failure.get("usage"):
            # A mistake of the user's, not a death: the child has said all of it.
            error = UsageError(reason, fix=fix, log=self.log)
        self._inbox.put(None)
        return error

    def require_sound(self) -> None:
        """Fails if the child has reported a failure, even if its process still runs."""
        if "failed" in self.latest:
            self.stop()
            raise self.death()

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Asks the child to end, and kills it if it does not end in time."""
        self.send("stop")
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        if not self._process.wait(timeout_s):
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and "event" in message:
                self.latest[message["event"]] = message
                self._inbox.put(message)
        self._inbox.put(None)


class Console:
    """The child's end: emits events and receives commands."""

    def __init__(self) -> None:
        # Libraries and child processes may print; only events may reach the parent.
        self._out: IO[str] = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def emit(self, event: str, **fields: Any) -> None:
        line = json.dumps({"event": event, **fields})
        with self._lock, contextlib.suppress(BrokenPipeError, ValueError):
            self._out.write(line + "\n")
            self._out.flush()

    def fail(self, error: StreamgaugeError) -> None:
        """Reports why the child cannot go on."""
        usage = isinstance(error, UsageError)
        self.emit("failed", reason=error.cause, fix=error.fix, usage=usage)

    def commands(self) -> Iterator[Message]:
        """Commands of the parent, up to `stop` or to the end of the parent."""
        for line in sys.stdin:
            message = json.loads(line)
            if message["command"] == "stop":
                return
            yield message


def module_argv(module: str, *arguments: str) -> list[str]:
    """The command line that runs a module of ours with this interpreter."""
    return [sys.executable, "-m", module, *arguments]
