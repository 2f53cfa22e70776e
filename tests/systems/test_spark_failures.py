"""How the program words what Spark throws."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JNetworkError

from streamgauge.systems.spark.program import explained_failure


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
    reason, fix = explained_failure(error)
    assert reason == "Spark's JVM has ended"
    assert "`system.memory`" in fix


def test_of_a_stack_the_telling_line_is_kept() -> None:
    text = "Job aborted.\n\tat a.b.C\nCaused by: java.lang.ArithmeticException: / by zero\n\tat d"
    reason, fix = explained_failure(Exception(text))
    assert reason.endswith("ArithmeticException: / by zero")
    assert "correct the query" in fix
    assert explained_failure(ValueError(""))[0] == "ValueError"
    assert len(explained_failure(Exception("Error: " + "x" * 900))[0]) == 300
