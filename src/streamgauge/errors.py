"""Every error that streamgauge raises on purpose.

StreamgaugeError             cause, fix and log; never shown as a traceback
├── UsageError               wrong command line                               exit code 2
│   └── ExperimentError      wrong experiment file, names the key             exit code 2
├── ComponentError           something did not start, or died                 exit code 5
└── RunInterrupted           Ctrl-C or SIGTERM; what was measured is kept     exit code 130
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

LONGEST_CAUSE = 1_000
LONGEST_FIX = 600


def shortened(text: str, longest: int = LONGEST_CAUSE) -> str:
    """Without its middle if it is too long to be read, such as a value of a whole file."""
    if len(text) <= longest:
        return text
    half = longest // 2 - 20
    return f"{text[:half]} … {len(text) - 2 * half:,} characters … {text[-half:]}"


class ExitCode(IntEnum):
    """The exit codes of `streamgauge`; scripts rely on them."""

    VALID = 0
    FAILED = 1
    USAGE = 2
    INVALID = 3
    VOID = 4
    COMPONENT = 5
    INTERRUPTED = 130


class StreamgaugeError(Exception):
    """An error that a user can correct."""

    exit_code = ExitCode.COMPONENT

    def __init__(self, cause: str, *, fix: str = "", log: Path | None = None) -> None:
        self.cause = shortened(cause)
        super().__init__(self.cause)
        self.fix = shortened(fix, LONGEST_FIX)
        self.log = log
        self.run: Path | None = None
        """The run directory with what was measured before the error, if there is one."""

    def __str__(self) -> str:
        return f"{self.cause}\nfix: {self.fix}" if self.fix else self.cause


class UsageError(StreamgaugeError):
    """The command line asks for something that does not exist."""

    exit_code = ExitCode.USAGE


class ExperimentError(UsageError):
    """The experiment file is wrong; `key` is the path of the setting, such as `load.rate`."""

    def __init__(self, key: str, problem: str, *, fix: str = "") -> None:
        super().__init__(f"{key}: {problem}", fix=fix)
        self.key = shortened(key, LONGEST_FIX)
        self.problem = shortened(problem)

    def moved(self, section: str, to: str) -> ExperimentError:
        """The same error about the same setting of another section."""
        if not self.key.startswith(f"{section}."):
            return self
        return ExperimentError(to + self.key.removeprefix(section), self.problem, fix=self.fix)


class ComponentError(StreamgaugeError):
    """A process of the station did not start, or died."""


class RunInterrupted(StreamgaugeError):
    """The user stopped the run."""

    exit_code = ExitCode.INTERRUPTED
