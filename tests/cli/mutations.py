"""Ways to break the built-in quickstart, each with the words that a good message may use for it.

That a mutation breaks the file follows from the fields of the models, or from a list of values that
are wrong for a setting.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from hypothesis import strategies as st

from streamgauge.channels.direct.channel import DirectChannel
from streamgauge.experiments.planning.files import BUILT_IN
from streamgauge.experiments.planning.model import Experiment, Load, Timeouts
from streamgauge.queries.gaming.aggregation import AggregationQuery
from streamgauge.systems.spark.system import SparkSystem

TEXT = (BUILT_IN / "quickstart.yaml").read_text()
DATA: dict[str, Any] = yaml.safe_load(TEXT)
FILE = "mutated.yaml"

Path = tuple[str, ...]

KNOWN: dict[Path, set[str]] = {
    (): set(Experiment.model_fields),
    ("workload",): {"query", *AggregationQuery.model_fields},
    ("load",): set(Load.model_fields),
    ("system",): {"name", *SparkSystem.model_fields},
    ("quick",): set(Experiment.model_fields),
    ("channel",): {"name", *DirectChannel.model_fields},
    ("timeouts",): set(Timeouts.model_fields),
}
REQUIRED: list[Path] = [("workload",), ("workload", "query"), ("load",), ("load", "rate")]

_NOT_A_NUMBER: list[Any] = ["many", "", [], {}, [5], {"a": 1}, None, True]
_NOT_A_TEXT: list[Any] = [5, 1.5, [], {}, None, True, ["x"], {"a": "b"}]
_NOT_A_DURATION: list[Any] = ["-1 s", -5, "soon", "1 parsec", "s", "", [], {}, None, True]
WRONG: dict[Path, list[Any]] = {
    ("name",): [*_NOT_A_TEXT, "", "a b", "../x", "x" * 65],
    ("about",): _NOT_A_TEXT,
    ("workload",): ["gaming", 5, [], None, {}],
    ("workload", "query"): [
        *(*_NOT_A_TEXT, "", "gaming", "gaming.nope", "nofile.py:x", ":", "x:y", "..:x", ".:"),
        *("a\0b.py:x", "x" * 300 + ".py:x", "x" * 90_000, "é.py:é"),
    ],
    ("workload", "keys"): [*_NOT_A_NUMBER, 0, -1, 1.5, 2**31],
    ("workload", "distribution"): [*_NOT_A_TEXT, "", "normall", "poisson"],
    ("workload", "window"): [*_NOT_A_DURATION, 0, "1 us", "400 days", "0.5 ms"],
    ("load",): ["constant", 5, [], None, {}],
    ("load", "rate"): [*_NOT_A_NUMBER, 0, -1, "-5k", float("nan"), float("inf"), 1e30, "5 bananas"],
    ("load", "instances"): [*_NOT_A_NUMBER, 0, -1, 2.5, 257],
    ("load", "seed"): [*_NOT_A_NUMBER, -1, 1.5, 2**63],
    ("system",): ["sparc", 5, [], None, {}, {"master": "local[2]"}],
    ("system", "name"): [*_NOT_A_TEXT, "", "sparc", "nofile.py:x"],
    ("system", "master"): [
        *(value for value in _NOT_A_TEXT if value is not None),
        *("", "local[0]", "local[-1]", "local[]", "local[2", "local[99999]", "local[2,0]", "loc"),
        *("local-cluster[2,2]", "local-cluster[0,1,1024]", "spark://", "http://here:7077"),
    ],
    ("system", "cluster"): [5, "x", [], {"workers": 0}, {"cores": 0}, {"workers": 1}],
    ("duration",): [*_NOT_A_DURATION, 0, "0 s", "10 ms", "400 days"],
    ("warm_up",): [*_NOT_A_DURATION, "120 %", "-5 %", "100 %", 1.5, -0.5, "2 h"],
    ("thresholds",): [
        *("event_time.p99 < 5 s", 5, {"a": "b"}, None, True),
        *([5], [None], [[]], [{}], ["event_time.p99"], ["event_time.p98 < 5 s"], ["x < 1"]),
        *(["event_time.p99 < soon"], ["event_time.p99 =< 5 s"], ["< 5 s"], ["validation.late < -"]),
    ],
    ("load", "schedule"): [
        *("sinus", "", 5, [], None, {}, {"period": "2 s"}, {"name": "sine", "periode": "2 s"}),
        *({"name": "sine", "period": "x"}, {"name": "sine", "period": "1 us"}),
        *({"name": "sine", "amplitude": 7}, {"name": "sine", "amplitude": "high"}),
        *({"name": "steps", "levels": []}, {"name": "steps", "levels": "x"}),
        *({"name": "steps", "levels": [0]}, {"name": "bursts", "length": "20 s"}),
        *({"name": "trace"}, {"name": "trace", "path": "no.csv"}, {"name": "trace", "path": 5}),
        *({"name": "bursts", "burst": 150_000}, {"name": "steps", "levels": [1, 40_000]}),
        *({"name": "ramp", "start": 40_000}, {"name": "trace", "path": "a\0b"}),
        {"name": "trace", "path": "x" * 300},
    ],
    ("load", "policy"): [
        *("tim", 5, [], {}, {"name": "time", "patience": "x"}, {"name": "time", "patience": "0 s"}),
        *({"name": "count", "patience": 0}, {"name": "combined", "patience": 5}),
    ],
    ("load", "marks"): [
        *(5, "x", [], [0.1], [0.1, 0.2], [0.3, 0.2, 0.1], ["a", "b", "c"], [0.1, 0.2, 1.5], None),
        [0.0, 0.1, 0.2],
    ],
    ("load", "disorder"): _NOT_A_DURATION,
    ("load", "max_lag"): _NOT_A_DURATION,
    ("channel",): [
        *("kafkaesque", 5, [], None, {"token": "short"}, {"listen": 5}, {"listen": "0.0.0.0"}),
        {"listen": "not an address"},
        *(
            {"token": token}
            for token in ("x" * 2_000, "ö" * 16, "x" * 16 + "\n", "a b " * 5, "\0" * 16)
        ),
    ],
    ("channel", "certificate"): [5, [], "no/such/file.pem", "x" * 300, "a\0b"],
    ("timeouts",): ["x", 5, [], None],
    ("timeouts", "start"): _NOT_A_DURATION,
    ("timeouts", "drain"): _NOT_A_DURATION,
    ("measure_master",): [*_NOT_A_TEXT, "", "local[0]"],
    ("search",): [5, [], {"start": 2000, "highest": 1000}, {"start": "60M"}, {"highest": 2e9}],
    ("system", "trigger"): _NOT_A_DURATION,
    ("system", "memory"): [*_NOT_A_TEXT, "", "lots", "2", "-2g"],
    ("system", "cores"): ["x", 0, -1, 1.5, [], True],
    ("system", "state_store"): [*_NOT_A_TEXT, "", "rocks"],
    ("system", "cpus"): ["x", 5, {}, [], ["x"], [-1], [True]],
    ("system", "conf"): ["x", 5, [], None, {"ui.enabled": 1}, {"spark.x": []}, {"spark.x": None}],
    ("quick",): [5, "x", [1], {"nonsense": 1}, {"duration": "x"}, {"load.rat": 5}, {"load": 5}],
}


@dataclass(frozen=True)
class Mutation:
    """A broken file, and the words of which its message must have one."""

    kind: str
    text: bytes
    words: tuple[str, ...]


def _dumped(kind: str, data: Any, *words: str) -> Mutation:
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    return Mutation(kind, text.encode(), words)


def _paths(data: Any, prefix: Path = ()) -> list[Path]:
    if not isinstance(data, dict):
        return []
    found = []
    for key, value in data.items():
        found += [(*prefix, key), *_paths(value, (*prefix, key))]
    return found


PATHS = _paths(DATA)


def _place(data: dict[str, Any], path: Path) -> dict[str, Any]:
    for key in path[:-1]:
        data = data.setdefault(key, {})
    return data


@st.composite
def misspelled(draw: st.DrawFn) -> Mutation:
    """A key at any depth with a slip of the finger in it."""
    path = draw(st.sampled_from(PATHS))
    key = path[-1]
    at = draw(st.integers(0, len(key) - 1))
    letter = draw(st.sampled_from("aeioxyz_- "))
    slips = [
        key[:at] + key[at + 1 :],
        key[:at] + letter + key[at:],
        key[:at] + letter + key[at + 1 :],
    ]
    slips += [key + key[-1], key.upper(), key.replace("_", "-") + "s", key[::-1]]
    wrong = draw(st.sampled_from([slip for slip in slips if slip not in KNOWN[path[:-1]]]))
    data = copy.deepcopy(DATA)
    place = _place(data, path)
    renamed = {wrong if name == key else name: value for name, value in place.items()}
    place.clear()
    place.update(renamed)
    # A required key that got another name is also missing under its own.
    return _dumped("misspelled", data, wrong.strip() or key, key)


@st.composite
def added(draw: st.DrawFn) -> Mutation:
    """A key that does not exist, in any section, also in those that the file leaves out."""
    section = draw(st.sampled_from(sorted(KNOWN)))
    key = draw(st.from_regex(r"[a-z][a-z_]{0,11}", fullmatch=True))
    while key in KNOWN[section]:
        key += "x"
    data = copy.deepcopy(DATA)
    place = data
    for name in section:
        place = place.setdefault(name, {})
    place[key] = draw(st.one_of(st.integers(), st.text(max_size=5), st.none(), st.just({"a": 1})))
    return _dumped("added", data, key)


def wrong_values() -> Iterator[Mutation]:
    """Values of a wrong type, out of range, or garbage: every one of the list."""
    for path, values in WRONG.items():
        for value in values:
            data = copy.deepcopy(DATA)
            _place(data, path)[path[-1]] = copy.deepcopy(value)
            # The message may name the setting inside, without the way to it.
            inside = [key for key in value if key != "name"] if isinstance(value, dict) else []
            yield _dumped(f"{'.'.join(path)} = {value!r:.40}", data, path[-1], *inside)


@st.composite
def removed(draw: st.DrawFn) -> Mutation:
    """A key that is needed is not there."""
    path = draw(st.sampled_from(REQUIRED))
    data = copy.deepcopy(DATA)
    del _place(data, path)[path[-1]]
    return _dumped("removed", data, path[-1])


@st.composite
def nested(draw: st.DrawFn) -> Mutation:
    """A value one level too deep: in a mapping of its own name, or in a list."""
    path = draw(st.sampled_from([path for path in PATHS if path[0] != "quick"]))
    data = copy.deepcopy(DATA)
    place = _place(data, path)
    value = place[path[-1]]
    place[path[-1]] = draw(st.sampled_from([{path[-1]: value}, [value]]))
    return _dumped("nested", data, path[-1])


@st.composite
def doubled(draw: st.DrawFn) -> Mutation:
    """A line of the file stands twice, so that its key does."""
    lines = TEXT.splitlines()
    keyed = [n for n, line in enumerate(lines) if re.match(r" *[a-z_]+: *[^ #]", line)]
    number = draw(st.sampled_from(keyed))
    key = lines[number].split(":")[0].strip()
    lines.insert(number + 1, lines[number])
    return Mutation("doubled", "\n".join(lines).encode(), (key,))


@st.composite
def no_yaml(draw: st.DrawFn) -> Mutation:
    """A file that cannot be read as YAML; the message can only name the file and the line."""
    lines = TEXT.splitlines()
    number = draw(st.integers(1, len(lines) - 1))
    spoiled = draw(
        st.sampled_from(
            ["\tx: 1", "x: [1, 2", "x: 'unfinished", "x: {a: 1", "@: 1", "x: *nobody", "%"]
        )
    )
    lines.insert(number, spoiled)
    return Mutation("no YAML", "\n".join(lines).encode(), (FILE, "x"))


@st.composite
def no_mapping(draw: st.DrawFn) -> Mutation:
    """A file that holds something else altogether, or bytes that are no text."""
    content = draw(
        st.one_of(
            st.sampled_from(
                [b"", b"# nothing", b"- 1\n- 2\n", b"just words", b"5", b"\xff\xfe\x00"]
            ),
            st.binary(max_size=40).filter(lambda some: b":" not in some and b"?" not in some),
        )
    )
    return Mutation("no mapping", content, (FILE,))


GENERATED: dict[str, tuple[st.SearchStrategy[Mutation], int]] = {
    "misspelled": (misspelled(), 70),
    "added": (added(), 40),
    "removed": (removed(), 4),
    "nested": (nested(), 30),
    "doubled": (doubled(), 15),
    "no YAML": (no_yaml(), 30),
    "no mapping": (no_mapping(), 20),
}
"""Each kind with as many examples as it is worth, or has."""
