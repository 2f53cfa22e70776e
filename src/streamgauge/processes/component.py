"""A process of the station: the parent's handle on it, and the child's end of the conversation.

Parent and child talk in JSON lines: commands go to the child's standard input, events come from its
standard output. When the parent goes away, the child's input ends, and the child goes too. Beyond
one machine the same lines can go through a remote shell.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from streamgauge.errors import ComponentError

Message = dict[str, Any]
STOP_TIMEOUT_S = 8.0
LARGE_ARRAYS = {"MALLOC_MMAP_THRESHOLD_": "67108864", "MALLOC_TRIM_THRESHOLD_": "268435456"}
"""Environment for processes that make large arrays all the time: glibc would give each one back to
the kernel and fault its pages in again, which takes twice as long as filling them."""


class Component:
    """A child process that answers commands with events."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        cpus: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.log = log
        self.latest: dict[str, Message] = {}
        """The last event of each kind, for those who want to look without waiting."""
        self._inbox: queue.Queue[Message | None] = queue.Queue()
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as log_file:
            self._process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_file,
                env={**os.environ, **(env or {})},
                # A terminal's Ctrl-C is for the parent, which stops its children in order.
                start_new_session=True,
            )
        if cpus and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self._process.pid, cpus)
        threading.Thread(target=self._listen, name=f"listen-{name}", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def send(self, command: str, **fields: Any) -> None:
        """Gives a command; a child that is gone is noticed by whoever waits for the answer."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps({"command": command, **fields}).encode() + b"\n")
            stdin.flush()
        except (BrokenPipeError, ValueError):
            pass

    def poll(self) -> list[Message]:
        """Events since the last look; fails when the child has died."""
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
        """The next event of that kind; `meanwhile` is called every now and then."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                message = self._inbox.get(timeout=min(0.2, max(0.0, deadline - time.monotonic())))
            except queue.Empty:
                meanwhile()
                if time.monotonic() >= deadline:
                    raise ComponentError(
                        f"{self.name} did not say `{event}` within {timeout_s:.0f} s",
                        fix="look at its log"
                        + (
                            "; on a slow machine raise `timeouts.start`"
                            * (event in ("up", "ready"))
                        ),
                        log=self.log,
                    ) from None
                continue
            if message is None:
                raise self.death()
            if message["event"] == event:
                return message

    def death(self) -> ComponentError:
        """The error for a child that ended by itself."""
        code = self._process.wait()
        self._inbox.put(None)
        failure = self.latest.get("failed", {})
        reason = failure.get("reason") or f"exit code {code}"
        return ComponentError(
            f"{self.name} died: {reason}", fix=failure.get("fix", "see its log"), log=self.log
        )

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Asks the child to end, and ends it when it does not."""
        self.send("stop")
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError):
            stdin.close()
        try:
            self._process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        for line in stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if not isinstance(message, dict) or "event" not in message:
                continue
            self.latest[message["event"]] = message
            self._inbox.put(message)
        self._inbox.put(None)


class Console:
    """The child's end: emits events and iterates over commands until the parent is gone."""

    def __init__(self) -> None:
        # Libraries and child processes may print; only our own lines may reach the parent.
        self._out: IO[str] = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def emit(self, event: str, **fields: Any) -> None:
        line = json.dumps({"event": event, **fields})
        with self._lock:
            try:
                self._out.write(line + "\n")
                self._out.flush()
            except (BrokenPipeError, ValueError):
                pass

    def commands(self) -> Iterator[Message]:
        """Commands of the parent, up to `stop` or the end of the parent, whichever comes first."""
        for line in sys.stdin:
            message = json.loads(line)
            if message["command"] == "stop":
                return
            yield message


def module_argv(module: str, *arguments: str) -> list[str]:
    """The command line of one of our own modules, run by this very interpreter."""
    return [sys.executable, "-m", module, *arguments]
