"""Lines of words: drawn from a vocabulary by Zipf's law, or English prose that ships."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pyarrow as pa

from streamgauge.events.columns import Words
from streamgauge.events.distributions import Distribution
from streamgauge.events.numbers import BLOCK, InstanceShare
from streamgauge.events.sources import LINE

MARK = "needle"
"""The word of marked lines; no other line has it."""
_PROSE = "prose.txt"


def zipf_lines(
    *,
    seed: int,
    rows: int,
    words: int,
    vocabulary: int,
    zipf_s: float,
    marked: float = 0.0,
) -> pa.Table:
    """So many lines of so many words each; in a share of them, exactly, a word is the mark."""
    share = InstanceShare(seed, 0)
    column = Words(vocabulary=vocabulary, low=words, high=words, zipf_s=zipf_s)
    lines = [_block(share, column, first, rows) for first in range(0, rows, BLOCK)]
    made = pa.concat_arrays(lines)
    return pa.table({LINE: _with_mark(made, share, words, marked) if marked else made})


def prose_lines() -> pa.Table:
    """The lines of the text that ships: public domain, see its first lines in the documentation."""
    text = files("streamgauge.events").joinpath(_PROSE).read_text(encoding="utf-8")
    return pa.table({LINE: [line for line in text.splitlines() if line]})


def _block(share: InstanceShare, column: Words, first: int, rows: int) -> pa.Array:
    count = min(BLOCK, rows - first)
    random = share.random(first // BLOCK, 0, 0, count, column.numbers)
    return column.decode(column.draw(random))


def _with_mark(lines: pa.Array, share: InstanceShare, words: int, marked: float) -> pa.Array:
    """The lines, with the mark instead of one word of some of them, which are drawn."""
    texts = lines.to_pylist()
    blocks = range(0, len(texts), BLOCK)
    # Columns far behind those of the words, so that no number is used twice.
    order, place = (
        np.concatenate(
            [
                share.random(first // BLOCK, column, 0, min(BLOCK, len(texts) - first))
                for first in blocks
            ]
        )
        for column in (words + 1, words + 2)
    )
    places = Distribution("uniform", words).draw(place)
    for number in np.argsort(order, kind="stable")[: round(marked * len(texts))].tolist():
        line = texts[number].split(" ")
        line[places[number]] = MARK
        texts[number] = " ".join(line)
    return pa.array(texts)
