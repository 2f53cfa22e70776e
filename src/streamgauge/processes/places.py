"""Places where a process can run: this machine, a network namespace on it, or another machine."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

EnvironmentChanges = Mapping[str, str | None]
"""Changes to an inherited environment: a text sets the variable, None removes it."""


class Place(Protocol):
    """Turns a command line into the one that is started on this machine."""

    @property
    def site(self) -> str:
        """Name of the place, for logs and reports."""

    @property
    def remote(self) -> bool:
        """Whether the process runs on another machine and has no pid on this one."""

    def command(self, argv: Sequence[str], changes: EnvironmentChanges) -> list[str]:
        """The command line to start here so that `argv` runs there with the changes applied.

        The launcher applies the changes to the process that it starts here. A place adds them to
        the command line only if that process does not pass its environment on.
        """


@dataclass(frozen=True)
class ThisMachine:
    site: ClassVar[str] = "this machine"
    remote: ClassVar[bool] = False

    def command(self, argv: Sequence[str], changes: EnvironmentChanges) -> list[str]:  # noqa: ARG002
        return list(argv)


@dataclass(frozen=True)
class NetworkNamespace:
    """An existing network namespace of this machine; entering it needs root."""

    name: str
    remote: ClassVar[bool] = False

    @property
    def site(self) -> str:
        return f"network namespace {self.name}"

    def command(self, argv: Sequence[str], changes: EnvironmentChanges) -> list[str]:  # noqa: ARG002
        return ["ip", "netns", "exec", self.name, *argv]


@dataclass(frozen=True)
class RemoteShell:
    """Another machine, through ssh without prompts: keys and known hosts must be set up."""

    host: str
    options: tuple[str, ...] = ()
    """Further options of ssh, such as `("-p", "2222")`."""
    remote: ClassVar[bool] = True

    @property
    def site(self) -> str:
        return self.host

    def command(self, argv: Sequence[str], changes: EnvironmentChanges) -> list[str]:
        removed = [
            word for name, value in changes.items() if value is None for word in ("-u", name)
        ]
        added = [f"{name}={value}" for name, value in changes.items() if value is not None]
        # A shell there parses the line again, so every word is quoted.
        line = shlex.join(["env", *removed, *added, *argv])
        return ["ssh", "-o", "BatchMode=yes", *self.options, "--", self.host, line]


THIS_MACHINE = ThisMachine()
