"""The telling line of an error, and the line of the user's code where it arose."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.causes import LONGEST, advice_on, cause_of, line_of

WORKER = """\
An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/home/me/sales.py", line 16, in taxed
    return amount * RATES["vat"]
                    ~~~~~^^^^^^^
KeyError: 'vat'
"""
STREAM = f"""\
[STREAM_FAILED] Query [id = 1] terminated with exception: An error occurred. Return Message: \
Traceback (most recent call last):
  File "/usr/lib/pyspark/sql/utils.py", line 166, in call
    raise e
pyspark.errors.exceptions.captured.PythonException: {WORKER}
 SQLSTATE: 39000 SQLSTATE: XXKST
=== Streaming Query ===
Identifier: [id = 1]
"""
DIVIDED = """\
[STREAM_FAILED] Query [id = 1] terminated with exception: Return Message: Traceback (most recent \
call last):
  File "/usr/lib/pyspark/sql/utils.py", line 166, in call
pyspark.errors.exceptions.captured.ArithmeticException: [DIVIDE_BY_ZERO] Division by zero. SQLSTATE\
: 22012
== DataFrame ==
"__truediv__" was called from
/home/me/sales.py:23

=== Streaming Query ===
"""


@pytest.mark.parametrize(
    ("text", "cause", "line"),
    [
        (WORKER, "KeyError: 'vat'", "/home/me/sales.py:16"),
        (STREAM, "KeyError: 'vat'", "/home/me/sales.py:16"),
        (DIVIDED, "ArithmeticException: Division by zero.", "/home/me/sales.py:23"),
        (
            "Job aborted.\n\tat a.b.C\nCaused by: java.lang.ArithmeticException: / by zero\n\tat d",
            "ArithmeticException: / by zero",
            None,
        ),
        (
            "[STREAM_FAILED] Query [id = 1] terminated with exception: no space",
            "Exception: no space",
            None,
        ),
        ("", "Exception", None),
    ],
)
def test_of_the_long_texts_of_spark_the_cause_is_kept(
    text: str, cause: str, line: str | None
) -> None:
    error = Exception(text)
    assert cause_of(error) == cause
    assert line_of(error, "/home/me/sales.py") == line


def test_a_cause_is_never_long() -> None:
    assert len(cause_of(ValueError("x" * 9_000))) == LONGEST


def test_the_innermost_line_of_the_file_or_one_beside_it_is_at_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outer, helper = tmp_path / "outer.py", tmp_path / "helper.py"
    names: dict[str, object] = {}
    exec(compile("def inner():\n    return {}['threshold']", helper, "exec"), names)
    exec(compile("\n\ndef outer():\n    return inner()", outer, "exec"), names)
    with pytest.raises(KeyError) as caught:
        names["outer"]()  # type: ignore[operator]
    assert line_of(caught.value, str(outer)) == "helper.py:2"
    assert line_of(caught.value, "/elsewhere/outer.py") is None
    assert cause_of(caught.value) == "KeyError: 'threshold'"


def test_advice_fits_the_error() -> None:
    assert "such as `5 seconds`" in advice_on(ValueError("[CANNOT_PARSE_INTERVAL] Unable to"))
    assert "into the function" in advice_on(RuntimeError("[SESSION_OR_CONTEXT_NOT_EXISTS] x"))
    assert advice_on(KeyError("threshold")) == "correct that line"
