"""The nearest right name for a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that is most similar, if any is similar enough."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)


def did_you_mean(name: str, known: Iterable[str], otherwise: str, *, cutoff: float = 0.6) -> str:
    """``did you mean `load`?``, or `otherwise` if no name is similar."""
    near = nearest(name, known, cutoff=cutoff)
    return otherwise if near is None else f"did you mean `{near}`?"
