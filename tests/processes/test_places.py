"""Places as pure functions; tests/processes/test_launcher.py runs processes at them."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from streamgauge.processes.places import THIS_MACHINE, NetworkNamespace, RemoteShell

CHANGES = {"MARK": "1", "GONE": None}
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True)


def test_this_machine_leaves_the_command_line_as_it_is() -> None:
    assert THIS_MACHINE.command(("program", "a b"), CHANGES) == ["program", "a b"]
    assert THIS_MACHINE.site == "this machine"


def test_a_network_namespace_is_entered_first() -> None:
    place = NetworkNamespace("berlin")
    argv = ["ip", "netns", "exec", "berlin", "program", "a b"]
    assert place.command(["program", "a b"], CHANGES) == argv
    assert place.site == "network namespace berlin"


def test_a_remote_shell_gets_one_quoted_line_with_the_environment() -> None:
    place = RemoteShell("user@load-1", ("-p", "2222"))
    assert place.command(["program", "a b"], CHANGES) == [
        *("ssh", "-o", "BatchMode=yes", "-p", "2222", "--", "user@load-1"),
        "env -u GONE MARK=1 program 'a b'",
    ]
    assert place.site == "user@load-1"


@given(
    arguments=st.lists(WORDS),
    changes=st.dictionaries(NAMES, st.none() | WORDS),
)
def test_a_remote_shell_parses_the_line_into_the_same_words(
    arguments: list[str], changes: dict[str, str | None]
) -> None:
    *_, line = RemoteShell("host").command(["program", *arguments], changes)
    words = shlex.split(line)
    start = words.index("program", len(words) - len(arguments) - 1)
    assert words[start + 1 :] == arguments
    added = {f"{name}={value}" for name, value in changes.items() if value is not None}
    removed = [name for name, value in changes.items() if value is None]
    split = 1 + 2 * len(removed)
    assert words[:split] == ["env", *(word for name in removed for word in ("-u", name))]
    assert set(words[split:start]) == added
