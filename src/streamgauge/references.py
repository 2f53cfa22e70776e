"""Settings that name where a secret is, so that no file of a run ever has the secret itself.

`${env:NAME}` stands for an environment variable, `${file:PATH}` for the text of a file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from streamgauge.errors import UsageError

_REFERENCE = re.compile(r"\$\{(env|file):([^}]+)\}")


_PASSWORD = re.compile(r"//[^/@\s]*:[^/@\s]+@|password=[^&\s]", re.IGNORECASE)


def has_reference(text: str) -> bool:
    return _REFERENCE.search(text) is not None


def has_open_password(address: str) -> bool:
    """Whether a password is written out instead of referred to."""
    return _PASSWORD.search(_REFERENCE.sub("", address)) is not None


def revealed(text: str) -> str:
    """The text with every reference replaced; for the process that needs it, never for a file."""
    return _REFERENCE.sub(_value, text)


def _value(match: re.Match[str]) -> str:
    kind, name = match.groups()
    if kind == "env":
        if name not in os.environ:
            cause = f"the environment variable {name} is not set"
            raise UsageError(cause, fix=f"set it, or change `{match[0]}` in the experiment file")
        return os.environ[name]
    try:
        return Path(name).expanduser().read_text().strip()
    except OSError as error:
        cause = f"`{match[0]}` cannot be read: {error.strerror}"
        raise UsageError(cause, fix="name a file that this user can read") from None
