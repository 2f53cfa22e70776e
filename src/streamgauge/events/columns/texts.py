"""Columns of texts: one of a list, words of a vocabulary, and ids."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice, product
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, model_validator

from streamgauge.events.columns.base import MAX_COUNT, Distributed
from streamgauge.events.distributions import Distribution, DistributionName
from streamgauge.units import Share

MAX_TEXT_BYTES = 4_000
"""Of one value: a batch of events has at most 2^31 bytes in a column."""
MAX_VOCABULARY = 1_000_000
_MOST_SYLLABLES = 4
_SYLLABLES = [first + second for first in "bcdfghjklmnprstvwyz" for second in "aeiou"]


class Choice(Distributed):
    """One of some texts; with `zipf` the first is the most frequent. `weights` are their shares."""

    kind: Literal["choice"] = "choice"
    values: tuple[str, ...] = Field(min_length=1)
    weights: tuple[Share, ...] | None = None

    @model_validator(mode="after")
    def _weighted(self) -> Choice:
        if self.weights is None:
            return self
        if len(self.weights) != len(self.values):
            found = f"{len(self.values)} values and {len(self.weights)} weights"
            raise ValueError(f"there are {found}; give each value one weight")
        if abs(sum(self.weights) - 1) > 1e-6:
            total = f"{sum(self.weights):.6g}"
            raise ValueError(f"the weights add up to {total}; they are shares and must add up to 1")
        if self.distribution != "uniform":
            raise ValueError("weights are a distribution of their own; leave `distribution` out")
        return self

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.string()

    @property
    def count(self) -> int:
        return len(self.values)

    def draw(self, random: NDArray[np.uint32]) -> NDArray[Any]:
        if self.weights is None:
            return super().draw(random)
        bounds = np.rint(np.cumsum(self.weights[:-1]) * 2**32).astype(np.uint64)
        return np.searchsorted(bounds, random, side="right").astype(np.int32)

    def decode(self, drawn: NDArray[Any]) -> pa.Array:
        return pa.array(self.values, type=self.arrow_type).take(pa.array(drawn))


class Words(Distributed):
    """Texts of `low` to `high` words; the first of the vocabulary is the most frequent with `zipf`.

    The vocabulary is a list of words, or a number of made-up ones.
    """

    kind: Literal["words"] = "words"
    vocabulary: int | tuple[str, ...] = 10_000
    low: int = Field(default=5, ge=1)
    high: int = Field(default=15, ge=1)
    distribution: DistributionName = "zipf"

    @model_validator(mode="after")
    def _sensible(self) -> Words:
        if not 1 <= self.count <= MAX_VOCABULARY:
            raise ValueError(
                f"the vocabulary has {self.count:,} words; give 1 to {MAX_VOCABULARY:,}"
            )
        given = self.vocabulary if isinstance(self.vocabulary, tuple) else ()
        for word in given:
            if not word or any(sign.isspace() for sign in word):
                raise ValueError(
                    f"{word!r} is not a word; leave out empty ones, and spaces in words"
                )
        if self.low > self.high:
            raise ValueError(f"low must not exceed high ({self.low} > {self.high})")
        longest = max((len(word.encode()) for word in given), default=2 * _MOST_SYLLABLES)
        if self.high * (longest + 1) > MAX_TEXT_BYTES:
            raise ValueError(
                f"{self.high} words of up to {longest} bytes may exceed {MAX_TEXT_BYTES:,} bytes; "
                "lower `high`"
            )
        return self

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.string()

    @property
    def count(self) -> int:
        return self.vocabulary if isinstance(self.vocabulary, int) else len(self.vocabulary)

    @property
    def numbers(self) -> int:
        return 1 + self.high

    def draw(self, random: NDArray[np.uint32]) -> NDArray[Any]:
        """The number of each word; −1 after the last word of a text."""
        rows = random.reshape(-1, self.numbers)
        words = self.shape.draw(rows[:, 1:])
        length = Distribution("uniform", self.high - self.low + 1).draw(rows[:, 0]) + self.low
        words[np.arange(self.high, dtype=np.int32) >= length[:, None]] = -1
        return words

    def decode(self, drawn: NDArray[Any]) -> pa.Array:
        present = drawn >= 0
        ends = np.cumsum(np.count_nonzero(present, axis=1), dtype=np.int32)
        # All words but the first of a text have a space before them, so the bytes of the words are
        # those of the texts: only the borders differ.
        spaced = drawn + np.int32(self.count)
        spaced[:, 0] = drawn[:, 0]
        words = _vocabulary(self.vocabulary).take(pa.array(spaced[present]))
        _, borders, data = words.buffers()
        offsets = np.frombuffer(borders, dtype=np.int32)[np.append(np.int32(0), ends)]
        return pa.StringArray.from_buffers(len(drawn), pa.py_buffer(offsets), data)


class Uuid(Distributed):
    """Random ids in the form of UUIDs, one per event; with `size`, one of so many ids."""

    kind: Literal["uuid"] = "uuid"
    size: int | None = Field(default=None, ge=1, le=MAX_COUNT)

    @model_validator(mode="after")
    def _distributed(self) -> Uuid:
        if self.size is None and self.distribution != "uniform":
            raise ValueError("ids that never repeat have no distribution; give a `size`")
        return self

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.string()

    @property
    def count(self) -> int:
        return self.size or 1

    @property
    def numbers(self) -> int:
        return 1 if self.size else 4

    def draw(self, random: NDArray[np.uint32]) -> NDArray[Any]:
        return super().draw(random) if self.size else random.reshape(-1, 4)

    def decode(self, drawn: NDArray[Any]) -> pa.Array:
        bits = _scattered(drawn) if self.size else np.ascontiguousarray(drawn)
        return _uuids(bits.view(np.uint8).reshape(-1, 16))


def _made_up(count: int) -> list[str]:
    """All words of one syllable come first, then those of two, and so on."""
    words = (
        "".join(syllables)
        for length in range(1, _MOST_SYLLABLES + 1)
        for syllables in product(_SYLLABLES, repeat=length)
    )
    return list(islice(words, count))


@lru_cache(maxsize=16)
def _vocabulary(words: int | tuple[str, ...]) -> pa.Array:
    """All words, then all words with a space before them."""
    known = _made_up(words) if isinstance(words, int) else words
    return pa.array([*known, *(f" {word}" for word in known)], type=pa.string())


def _scattered(keys: NDArray[np.int32]) -> NDArray[np.uint64]:
    """128 bits for each key, the same for every seed, so that streams can be joined by them."""
    mixed = keys.astype("<u8")[:, None] * np.uint64(2) + np.arange(1, 3, dtype="<u8")
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


_LENGTH = 36
_GROUPS = np.dtype(
    {
        "names": [f"at {place}" for place in (0, 4, 9, 14, 19, 24, 28, 32)],
        "formats": ["<u4"] * 8,
        "offsets": [0, 4, 9, 14, 19, 24, 28, 32],
        "itemsize": _LENGTH,
    }
)
"""Eight groups of four hexadecimal digits; the bytes between them are the dashes."""


@lru_cache(maxsize=1)
def _digits() -> NDArray[np.uint32]:
    """The four hexadecimal digits of every two bytes."""
    pairs = (f"{low:02x}{high:02x}" for high in range(256) for low in range(256))
    return np.frombuffer("".join(pairs).encode(), dtype="<u4")


def _uuids(bits: NDArray[np.uint8]) -> pa.Array:
    """Rows of 16 bytes as UUIDs of version 4."""
    bits = bits.copy()
    bits[:, 6] = bits[:, 6] & 0x0F | 0x40
    bits[:, 8] = bits[:, 8] & 0x3F | 0x80
    digits = np.take(_digits(), bits.view("<u2"), mode="clip")
    texts = np.full(len(bits) * _LENGTH, ord("-"), dtype=np.uint8)
    groups = texts.view(_GROUPS)
    for place, name in enumerate(_GROUPS.names or ()):
        groups[name] = digits[:, place]
    offsets = np.arange(0, len(texts) + 1, _LENGTH, dtype=np.int32)
    return pa.StringArray.from_buffers(len(bits), pa.py_buffer(offsets), pa.py_buffer(texts))
