"""Whatever is wrong with an experiment file: exit code 2, no traceback, the key by its name."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from streamgauge.experiments.planning import study

from .calling import call
from .mutations import FILE, GENERATED, TEXT, Mutation, wrong_values


def require_refusal(mutation: Mutation) -> None:
    """The assertion of all these tests, apart so that it can be tested itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        path.write_bytes(mutation.text)
        answer = call("validate", str(path))
    outcome = f"{mutation.kind}: exit code {answer.code}, {answer.err or answer.out}"
    assert answer.code == 2, outcome
    assert answer.out == "", outcome
    assert "Traceback" not in answer.err, outcome
    assert len(answer.err) <= 2_000, outcome
    first, *rest = answer.err.splitlines()
    assert first.startswith("error: "), outcome
    assert all(line.startswith("fix: ") for line in rest), outcome
    assert any(word in first for word in mutation.words), (
        f"{outcome} names none of {mutation.words}"
    )


@pytest.mark.parametrize("mutation", list(wrong_values()), ids=lambda mutation: mutation.kind)
def test_a_wrong_value_is_refused_by_the_name_of_its_key(mutation: Mutation) -> None:
    require_refusal(mutation)


@pytest.mark.parametrize("kind", GENERATED)
def test_a_mutated_experiment_is_refused_by_name(kind: str) -> None:
    strategy, examples = GENERATED[kind]

    @given(strategy)
    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    def refused(mutation: Mutation) -> None:
        require_refusal(mutation)

    refused()


def test_a_file_that_is_nested_without_end_is_refused() -> None:
    endless = TEXT + "deep: " + "[" * 3_000 + "]" * 3_000
    require_refusal(Mutation("deep", endless.encode(), ("deep", FILE)))


def test_a_number_that_python_will_not_read_is_refused() -> None:
    endless = TEXT.replace("seed: 7", "seed: " + "9" * 5_000)
    require_refusal(Mutation("digits", endless.encode(), ("seed", FILE)))


def test_at_least_200_files_are_mutated() -> None:
    generated = sum(examples for _, examples in GENERATED.values())
    assert generated >= 200
    assert len(list(wrong_values())) >= 200


def test_the_unchanged_experiment_is_accepted_so_refusing_everything_would_not_do() -> None:
    with pytest.raises(AssertionError, match="exit code 0"):
        require_refusal(Mutation("unchanged", TEXT.encode(), ("name",)))


def test_a_message_about_another_key_would_be_noticed() -> None:
    wrong = TEXT.replace("seed: 7", "seed: many").encode()
    require_refusal(Mutation("seed", wrong, ("seed",)))
    with pytest.raises(AssertionError, match="names none of"):
        require_refusal(Mutation("seed", wrong, ("instances",)))


def test_a_crash_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise KeyError("load")

    monkeypatch.setattr(study, "make_study", crash)
    with pytest.raises(AssertionError, match="exit code 5"):
        require_refusal(Mutation("crash", TEXT.encode(), ("load",)))
