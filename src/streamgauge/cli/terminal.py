"""What a command writes on: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

Part = str | Text | tuple[str, str]
"""Of a line: a text, or a text with its style."""
QUICK_STAMP = "quick run: the numbers are meaningless"
_WIDTH_WITHOUT_TERMINAL = 400
"""Output that goes into a file or another program is not wrapped: one thing stays on one line."""


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
    """One call of the program."""

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

    def say_table(self, table: Table) -> None:
        """A table on standard output, without the blanks that pad its last column."""
        with self.out.capture() as captured:
            self.out.print(table)
        for line in captured.get().splitlines():
            self.out.file.write(line.rstrip() + "\n")

    def say_json(self, data: Any) -> None:
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))

    def stamp_quick(self, quick: bool) -> None:
        if quick:
            self.note((QUICK_STAMP, "bold yellow"))


def plain_table(*headings: str) -> Table:
    """A table without lines, so that it can be read, searched and cut."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
