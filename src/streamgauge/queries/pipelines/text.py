"""The lines that word count and grep read: Zipf words, prose, or a file of the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field

from streamgauge.events.sources import MadeSource, TextSource
from streamgauge.queries.base import Stream
from streamgauge.queries.pipelines.base import PipelineQuery
from streamgauge.units import WholeNumber

ZIPF, PROSE = "zipf", "prose"
_LINES = "streamgauge.events.prose"


class LinesQuery(PipelineQuery):
    """A query over lines of text, which are repeated for as long as the load lasts."""

    text: str = Field(
        default=ZIPF, description="`zipf`, `prose` (ships), or the path of a text file"
    )
    vocabulary: WholeNumber = Field(
        default=10_000, ge=1, le=1_000_000, description="different words of `zipf`"
    )
    zipf_s: float = Field(default=1.0, gt=0, le=10, description="exponent of `zipf`")
    words: WholeNumber = Field(default=8, ge=1, le=400, description="in a line of `zipf`")
    lines: WholeNumber = Field(
        default=100_000, ge=1, le=10_000_000, description="different lines of `zipf`"
    )
    data_seed: WholeNumber = Field(default=1, ge=0, description="of `zipf`")

    def lines_stream(self, *, numbered: bool, marked: float = 0.0) -> Stream:
        """The lines, and their numbers in the stream if these are needed."""
        if self.text == ZIPF:
            parameters: dict[str, int | float | str] = {
                "seed": self.data_seed,
                "rows": self.lines,
                "words": self.words,
                "vocabulary": self.vocabulary,
                "zipf_s": self.zipf_s,
                "marked": marked,
            }
            made = MadeSource(
                function=f"{_LINES}:zipf_lines", parameters=parameters, numbered=numbered
            )
            return Stream(made)
        if self.text == PROSE:
            return Stream(MadeSource(function=f"{_LINES}:prose_lines", numbered=numbered))
        return Stream(TextSource(path=self.text, numbered=numbered))


def by_line(lines: pa.Array, of_line: Callable[[str], Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """What a function gives for every different line, and which of them each line is."""
    coded = pc.dictionary_encode(lines)
    found = [of_line(line) for line in coded.dictionary.to_pylist()]
    return found, coded.indices.to_numpy().astype(np.int64)
