"""The delivery guarantee that a run with faults has shown, beside the one that is claimed."""

from __future__ import annotations

from streamgauge.measure.summary import Validation

EXACTLY_ONCE = "exactly once"
AT_LEAST_ONCE = "at least once"
AT_MOST_ONCE = "at most once"
LESS = "less"
"""Results are wrong, or some are missing and others came more than once."""
_IMPLIES = {
    EXACTLY_ONCE: {EXACTLY_ONCE, AT_LEAST_ONCE, AT_MOST_ONCE},
    AT_LEAST_ONCE: {AT_LEAST_ONCE},
    AT_MOST_ONCE: {AT_MOST_ONCE},
    LESS: set(),
}


def shown(validation: Validation, *, drained: bool, updates: bool = False) -> str:
    """The strongest guarantee that the results have shown; empty: it is not known.

    Of updates only the last one of each key is compared: whether others came twice is not seen.
    """
    found = validation
    if found.expected is None or not found.values_compared:
        return ""
    if found.wrong or found.extra:
        return LESS
    lost, doubled = bool(found.missing), bool(found.duplicate)
    if lost and not drained:
        # Those that are missing may have been still to come.
        return ""
    if lost and doubled:
        return LESS
    return AT_MOST_ONCE if lost else AT_LEAST_ONCE if doubled or updates else EXACTLY_ONCE


def keeps(has_shown: str, claimed: str) -> bool:
    """Is what was shown at least what is claimed?"""
    return not claimed or not has_shown or claimed in _IMPLIES[has_shown]
