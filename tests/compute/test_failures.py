"""How what Spark throws becomes an error with cause and fix."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JNetworkError

from streamgauge.compute.failures import explained
from streamgauge.errors import ComponentError, ExitCode, UsageError


@pytest.mark.parametrize(
    "error",
    [
        Py4JNetworkError("Answer from Java side is empty"),
        ConnectionRefusedError(111, "Connection refused"),
        Exception("An error occurred: Answer from Java side is empty"),
    ],
)
def test_a_jvm_that_is_gone_is_named_and_memory_advised(error: Exception) -> None:
    """A JVM out of memory ends like this: it is set to exit."""
    failure = explained(error, "/home/me/sales.py")
    assert failure.cause == "Spark's JVM has ended"
    assert "`system.memory`" in failure.fix


def test_only_an_error_in_the_users_own_file_is_the_users() -> None:
    text = 'Job aborted.\nTraceback (most recent call last):\n  File "/home/me/sales.py", line 7\n'
    error = Exception(f"{text}KeyError: 'vat'")
    own = explained(error, "/home/me/sales.py")
    assert own.cause.endswith("/home/me/sales.py:7 KeyError: 'vat'")
    assert own.exit_code is ExitCode.USAGE
    other = explained(error, "/home/you/sales.py")
    assert isinstance(other, ComponentError)
    assert other.cause == "KeyError: 'vat'"
    assert "log has Spark's own explanation" in other.fix


def test_an_error_with_cause_and_fix_already_is_left_as_it_is() -> None:
    error = UsageError("a", fix="b")
    assert explained(error) is error
