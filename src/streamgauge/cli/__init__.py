"""The command line, `streamgauge`.

Heavy modules are imported only by the commands that need them, so that `--help` is fast.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (by default that of this process) and returns its exit code."""
    from streamgauge.cli.app import call
    from streamgauge.cli.failures import exit_code_of
    from streamgauge.cli.terminal import Session

    session = Session()
    return exit_code_of(lambda: call(arguments, session), session)
