from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.errors import UsageError
from streamgauge.references import has_reference, revealed


def test_a_reference_stands_for_a_variable_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "from env")
    (tmp_path / "word").write_text("from file\n")
    text = f"a ${{env:WORD}} b ${{file:{tmp_path / 'word'}}} c"
    assert revealed(text) == "a from env b from file c"
    assert has_reference(text)
    assert not has_reference("$WORD {env:WORD}")
    assert revealed("no reference") == "no reference"


@pytest.mark.parametrize("text", ["${env:NO_SUCH_VARIABLE}", "${file:/no/such/file}"])
def test_a_reference_to_nothing_is_refused_with_a_fix(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        revealed(text)
    assert caught.value.fix
