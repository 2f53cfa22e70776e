from __future__ import annotations

import os
import signal

import pytest

from streamgauge.errors import RunInterrupted
from streamgauge.experiments.running.log import Event, Interrupted
from streamgauge.experiments.running.runner import interruptible


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_told_before_anything_is_stopped(number: int) -> None:
    order: list[Event | str] = []

    def run() -> None:
        with interruptible(order.append):
            try:
                os.kill(os.getpid(), number)
            finally:
                order.append("stopped")

    before = signal.getsignal(number)
    with pytest.raises(RunInterrupted):
        run()
    assert order == [Interrupted(), "stopped"]
    assert signal.getsignal(number) is before
