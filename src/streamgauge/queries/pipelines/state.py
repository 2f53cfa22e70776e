"""A state of a set size: pieces of text that the first events bring, and that then stay.

A piece is a key of the stateful operator, like a word, so it is kept by every state store and in
every mode; a padded value would need an aggregate that Spark cannot keep in place. It is random
text that does not compress, so that checkpoints and reloads have its full size too.
"""

from __future__ import annotations

PIECE = 4_096
"""Bytes of a piece; the last one has the rest."""
PER_EVENT = 4
"""Pieces that one event brings, until there are enough."""
_DIGEST = 64
"""Characters of a digest of 384 bits in base 64."""


def pieces_of(size: int) -> int:
    """How many pieces make a state of so many bytes."""
    return -(-size // PIECE)


def events_to_fill(size: int) -> int:
    """How many events bring all pieces."""
    return -(-pieces_of(size) // PER_EVENT)


def pieces_sql(size: int, number: str) -> str:
    """The pieces that the event of this number brings, as an array of texts.

    Each begins with a blank, so that it is not a word. Together they have `size` bytes.
    """
    first = f"{PER_EVENT}L * {number}"
    own = f"filter(sequence({first}, {first} + {PER_EVENT - 1}), n -> n < {pieces_of(size)}L)"
    digest = "base64(unhex(sha2(concat_ws(' ', n, c), 384)))"
    random = f"array_join(transform(sequence(1, {PIECE // _DIGEST}), c -> {digest}), '')"
    length = f"int(least({PIECE}L, {size}L - n * {PIECE}L))"
    return f"transform({own}, n -> substring(concat(' ', n, ' ', {random}), 1, {length}))"
