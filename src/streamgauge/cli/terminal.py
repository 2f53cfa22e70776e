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
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamgauge.errors import ComponentError

Part = str | Text | tuple[str, str]
"""Of a line: a text, or a text with its style."""
QUICK_STAMP = "quick run: the numbers are meaningless"
_WIDTH_WITHOUT_TERMINAL = 400
"""Output that goes into a file or another program is not wrapped."""
_GAP = 3
"""Blanks between two columns."""
_LEAST_LAST = 20
"""The last column is wrapped to no less: it may hold a sentence."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # Called while the exception is handled; rich would exit with 1, which has a meaning here.
        raise


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL
    return _Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)


def _widths(
    rows: Sequence[Sequence[Text]], headings: Sequence[str], available: int
) -> list[int] | None:
    """Of the columns, such that no word is broken; None if the table is too wide for that."""
    natural, least = [], []
    for place, heading in enumerate(headings):
        cells = max((row[place].cell_len for row in rows if place < len(row)), default=0)
        words = max((cell_len(word) for word in heading.split()), default=0)
        is_last = place == len(headings) - 1
        natural.append(max(cells, cell_len(heading)))
        least.append(max(min(cells, _LEAST_LAST) if is_last else cells, words))
    widths, spare = natural, available - _GAP * (len(headings) - 1)
    while sum(widths) > spare:
        widest = max(range(len(widths)), key=lambda place: widths[place] - least[place])
        if widths[widest] == least[widest]:
            return None
        widths[widest] -= 1
    return widths


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
        """A table without lines, so that it can be read, searched and cut.

        On a narrow terminal only headings and the last column are wrapped. Where that is not
        enough, each row is a block of lines.
        """
        found = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
        heads = list(headings) or [""] * max(map(len, found), default=0)
        widths = _widths(found, heads, self.out.width)
        if widths is None:
            if heads[0]:
                self.say((heads[0], "bold"))
            for row in found:
                self._say_block(row, heads)
            return
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
        table.show_header = bool(headings)
        for heading, width in zip(heads, widths, strict=True):
            table.add_column(heading, overflow="fold", width=width)
        for row in found:
            table.add_row(*row)
        self._say_lines(table)

    def _say_block(self, row: Sequence[Text], headings: Sequence[str]) -> None:
        """The first cell, and below it the others, each behind its heading."""
        first, *others = row
        self.say(first)
        indent = len(first.plain) - len(first.plain.lstrip()) + 2
        block = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
        block.add_column()
        block.add_column(overflow="fold")
        for heading, cell in zip(headings[1:], others, strict=False):
            if cell.plain:
                block.add_row(" " * indent + heading, cell)
        if block.row_count:
            self._say_lines(block)

    def _say_lines(self, table: Table) -> None:
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
