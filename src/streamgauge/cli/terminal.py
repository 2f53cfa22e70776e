"""The output of a command: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamgauge.errors import ComponentError

Part = str | Text | tuple[str, str]
"""Of a line: a text, or a text with its style."""
QUICK_STAMP = "quick run: the numbers are meaningless"
_WIDTH_WITHOUT_TERMINAL = 400
"""Output that goes into a file or another program is not wrapped."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # Called while the exception is handled; rich would exit with 1, which has a meaning here.
        raise


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL
    return _Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)


@dataclass
class Session:
    out: Console = field(default_factory=lambda: _console(stderr=False))
    err: Console = field(default_factory=lambda: _console(stderr=True))
    logs: Path | None = None
    """Where the logs of a run are, once there is one."""

    def say(self, *parts: Part) -> None:
        """A line on standard output."""
        self.out.print(Text.assemble(*parts), soft_wrap=True)

    def note(self, *parts: Part) -> None:
        """A line on standard error."""
        self.err.print(Text.assemble(*parts), soft_wrap=True)

    def heading(self, text: str, style: str = "bold") -> None:
        self.say()
        self.say((text, style))

    def say_table(self, rows: Iterable[Sequence[str | Text]], *headings: str) -> None:
        """A table without lines, so that it can be read, searched and cut."""
        found = list(rows)
        table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
        table.show_header = bool(headings)
        for heading in headings or [""] * max(map(len, found), default=0):
            table.add_column(heading, overflow="fold")
        for row in found:
            table.add_row(*row)
        with self.out.capture() as captured:
            self.out.print(table)
        for line in captured.get().splitlines():
            # Without the blanks that pad the last column.
            self.out.file.write(line.rstrip() + "\n")

    def say_json(self, data: Any) -> None:
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))

    def stamp_quick(self, quick: bool) -> None:
        if quick:
            self.note((QUICK_STAMP, "bold yellow"))


@contextmanager
def written(path: Path, fix: str) -> Iterator[None]:
    """Turns a refusal of the operating system to write a file into an error with a fix."""
    try:
        yield
    except OSError as error:
        raise ComponentError(f"cannot write {path}: {error.strerror or error}", fix=fix) from error
