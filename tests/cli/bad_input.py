"""Command lines and files that no one should give, and what every answer to them must be."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
import yaml
from hypothesis import strategies as st

from .calling import Answer, call
from .mutations import KNOWN, TEXT

LONGEST_MESSAGE = 2_000
MOST_CPU_S = 5.0
"""Of this process, so that a busy machine is no hang."""


def answered(*arguments: str) -> Answer:
    """The answer to a command line: documented, short, and no bug of ours."""
    with _limited_cpu(arguments):
        answer = call(*arguments)
    outcome = f"{arguments!r:.300}: exit code {answer.code}, {answer.err:.3000}"
    assert answer.code in (0, 2, 5), outcome
    assert "Traceback" not in answer.err + answer.out, outcome
    assert "bug in streamgauge" not in answer.err, outcome
    assert len(answer.err) <= LONGEST_MESSAGE, f"{len(answer.err):,} characters: {outcome}"
    if answer.code:
        # `doctor` has its fixes on standard output.
        assert "fix: " in answer.err + answer.out, outcome
        assert len(answer.out) <= LONGEST_MESSAGE, f"{len(answer.out):,} characters: {outcome}"
    return answer


@contextmanager
def _limited_cpu(arguments: tuple[str, ...]) -> Iterator[None]:
    def give_up(_: int, __: FrameType | None) -> None:
        # Not an Exception, which the command line would explain and go on.
        pytest.fail(f"no answer after {MOST_CPU_S:g} s of CPU time: {arguments!r:.300}")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _repeated(first: str, line: str, levels: int = 9) -> str:
    """Lines of which each stands for nine times the one before it."""
    lines = [f"a0: &a0 {first}"]
    for level in range(levels):
        parts = ", ".join([f"*a{level}"] * 9)
        lines.append(f"a{level + 1}: &a{level + 1} {line.format(parts)}")
    return "\n".join(lines)


def _at(path: str, value: str) -> str:
    """The built-in quickstart with one more setting, as YAML of one line."""
    return f"{TEXT}\n{path}: {value}\n"


_KEYS = "".join(f"k{number}: 1\n" for number in range(60_000))
FILES: dict[str, str | bytes] = {
    "a billion elements by aliases": _repeated("[1, 2]", "[{}]"),
    "a billion elements in a setting": _repeated("[1, 2]", "[{}]") + f"\n{TEXT}\nvary: *a9\n",
    "a million elements in a setting": _repeated("[1, 2]", "[{}]", 6) + f"\n{TEXT}\nvary: *a6\n",
    "long texts by aliases": _repeated("x" * 9_000, "[{}]"),
    "merges of merges": _repeated("{x: 1}", "{{<<: [{}]}}"),
    "an alias in itself": _at("vary", "&a [*a]"),
    "an alias in its own mapping": _at("vary", "&a {load.rate: *a}"),
    "an unknown alias": _at("vary", "*nobody"),
    "many keys": _KEYS,
    "many keys in a section": "load:\n" + _KEYS.replace("k", "  k"),
    "a list of a hundred thousand": _at("vary", "{load.seed: [" + "1," * 100_000 + "]}"),
    "a text of a million letters": _at("about", "x" * 1_000_000),
    "a key of a million letters": "x" * 1_000_000 + ": 1",
    "a key of ninety thousand letters": _at("x" * 90_000, "1"),
    "two megabytes of comments": TEXT + "# nothing\n" * 200_000,
    "a million blanks": TEXT + " \n" * 600_000,
    "brackets": "[" * 500_000,
    "braces": "{" * 500_000,
    "dashes": "- " * 400_000,
    "questions": "? " * 400_000,
    "deep, and closed": _at("vary", "[" * 900 + "]" * 900),
    "an endless quote": "a: '" + "\n" * 900_000,
    "a tag without end": "a: !" + "x" * 900_000,
    "documents": "---\n" * 200_000,
    "a hexadecimal number": _at("repeat", "0x" + "f" * 50_000),
    "a number to the base 60": _at("repeat", "1" + ":59" * 20_000),
    "a number with too many digits": _at("repeat", "9" * 5_000),
    "no number": _at("repeat", "!!int x"),
    "an empty number": _at("repeat", "!!int ''"),
    "no truth value": _at("repeat", "!!bool x"),
    "no date": _at("repeat", "!!timestamp x"),
    "an impossible date": _at("repeat", "2024-13-45"),
    "a date": _at("repeat", "2024-12-24"),
    "a set": _at("thresholds", "!!set {a, b}"),
    "bytes": _at("thresholds", "!!binary aGVsbG8="),
    "a call": _at("about", "!!python/object/apply:os.system [exit]"),
    "half a character": _at("about", '"\\ud800"'),
    "a NUL in a text": _at("measure_master", '"\\0"'),
    "a NUL in the file": b"name: \0",
    "not UTF-8": b"name: \xff\xfe",
    "another encoding": TEXT.encode("utf-16"),
    "keys of other types": _at("vary", "{1: [2], null: [3], 2.5: [1], true: [1], [a]: [1]}"),
    "a section with a number as key": "load: {1: 2, rate: 5}\nworkload: {query: gaming.join}\n",
    "numbers as keys of the file": TEXT + "1: 2\nnull: 3\n",
    "too many cases": _at("vary", f"{{load.seed: {list(range(200))}, repeat2: {list(range(9))}}}"),
    "a million cases": _at(
        "vary", f"{{load.seed: {list(range(1_000))}, load.instances: {list(range(1, 1_001))}}}"
    ),
    "a varied setting of a thousand levels": _at("vary", "{" + "a." * 1_000 + "b: [1]}"),
    "a quick setting of a thousand levels": TEXT.replace(
        "quick:", "quick:\n  " + "a." * 1_000 + "b: 1"
    ),
    "a thousand cases, the last one wrong": _at("vary", f"{{load.seed: {[*range(1, 1_000), -1]}}}"),
    "an empty file": "",
}
"""Files that are wrong, and would cost much time, memory or reading."""

_WORDS = st.one_of(
    st.sampled_from(
        [
            *(
                "",
                " ",
                "-",
                "--",
                "---",
                ".",
                "..",
                "/",
                "~",
                "\0",
                "a\0b",
                "\n",
                "\udcff",
                "\x1b[31m",
            ),
            *(
                "x" * 300,
                "x" * 5_000,
                "x" * 120_000,
                "a/" * 3_000,
                "../" * 500,
                "x" * 300 + ".yaml",
            ),
            *("/dev/null", "/dev/null/x", "/proc/x", "/proc/self/mem", "/dev/zero", "/", "here"),
            *(
                "no.yaml",
                "null",
                "*",
                "?",
                "%s",
                "{}",
                "[]",
                "&a [*a]",
                "[" * 500,
                "0x" + "f" * 9_000,
            ),
            *("quickstart", "quickstat", "runs", "latest", "published:", "published:x", "p99:+5%"),
            *(
                "-1",
                "0",
                "1",
                "99999999999999999999",
                "1e999",
                "nan",
                "search",
                "90 %",
                "yes",
                "1 s",
            ),
        ]
    ),
    st.text(max_size=12),
)
_PATHS = [".".join((*section, key)) for section, keys in KNOWN.items() for key in sorted(keys)]
_SETTINGS = st.builds(
    lambda key, sign, value: f"{key}{sign}{value}",
    st.one_of(st.sampled_from(_PATHS), _WORDS),
    st.sampled_from(["=", "=", "=", "==", "", ":"]),
    _WORDS,
)
_OPTIONS: dict[str, dict[str, Any]] = {
    "list": {"--runs-dir": _WORDS, "--json": None},
    "new": {"--force": None},
    "validate": {"--set": _SETTINGS, "--quick": None, "--json": None},
    "run": {
        "--set": _SETTINGS,
        "--quick": None,
        "--json": None,
        "--runs-dir": _WORDS,
        "--resume": _WORDS,
        "--dry-run": None,
    },
    "report": {"--runs-dir": _WORDS, "--open": None},
    "compare": {"--fail-if": _WORDS, "--output": _WORDS, "--runs-dir": _WORDS, "--json": None},
    "clean": {"--keep": _WORDS, "--runs-dir": _WORDS, "--dry-run": None, "--yes": None},
    "doctor": {"--runs-dir": _WORDS, "--json": None, "--no-spark": None},
}


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command, or nearly one, with options and words of which most make no sense."""
    command = draw(st.one_of(st.sampled_from(sorted(_OPTIONS)), _WORDS))
    options = _OPTIONS.get(command, {"--help": None, "--version": None})
    words = [command]
    for _ in range(draw(st.integers(0, 3))):
        option = draw(st.sampled_from(sorted(options)))
        value = options[option]
        words += [option] if value is None else [option, draw(value)]
    words += draw(st.lists(_WORDS, max_size=3))
    return words


_ANY = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.dates()
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=8,
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Quickstart with arbitrary values for some of its settings, or arbitrary bytes."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=200))
    data = yaml.safe_load(TEXT)
    for _ in range(draw(st.integers(1, 3))):
        *sections, key = draw(st.sampled_from(_PATHS)).split(".")
        place = data
        for section in sections:
            if not isinstance(place.get(section), dict):
                place[section] = {}
            place = place[section]
        place[key] = draw(_ANY)
    return yaml.safe_dump(data, allow_unicode=True).encode("utf-8", "surrogatepass")
