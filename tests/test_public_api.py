"""Pins what users and scripts rely on. A change of the public API must change this file."""

from __future__ import annotations

import inspect
from importlib.metadata import distribution

import click
import pytest
from pydantic import BaseModel

import streamgauge
from streamgauge.cli.app import COMMANDS, commands
from streamgauge.errors import ExitCode

NAMES = [
    "Choice",
    "DataSet",
    "Flag",
    "Json",
    "Keys",
    "Object",
    "Real",
    "Result",
    "Service",
    "StreamSpec",
    "StreamgaugeError",
    "Table",
    "Time",
    "Uuid",
    "Whole",
    "Words",
    "__version__",
    "event_spec",
    "query",
    "recorded",
    "results",
    "resume",
    "run",
    "text",
]

SIGNATURES = {
    "Result": "(summary: 'Summary', path: 'Path') -> None",
    "Result.read": "(path: 'str | Path') -> 'Result'",
    "StreamgaugeError": "(cause: 'str', *, fix: 'str' = '', log: 'Path | None' = None) -> 'None'",
    "event_spec": "(**columns: 'Column') -> 'DataSet'",
    "query": "(*, events: 'DataSet | Source', keys: 'Sequence[str]',"
    " inputs: 'Mapping[str, Table | Service] | None' = None, closes: 'str | None' = None,"
    " output_mode: 'OutputMode' = 'append', input_time: 'str' = 'latest_event_time',"
    " output_time: 'str' = 'arrival_us') -> 'Callable[[Function], OwnQuery]'",
    "results": "(*, events: 'DataSet | Source', keys: 'Sequence[str]', closes: 'str | None' = None,"
    " output_mode: 'OutputMode' = 'append', input_time: 'str' = 'latest_event_time',"
    " output_time: 'str' = 'arrival_us', per_event: 'float | None' = None) -> 'Results'",
    "Service": "(kind: 'str | None' = None,"
    " prepare: 'Callable[[str], None] | None' = None,"
    " reset: 'Callable[[str], None] | None' = None, prepare_given: 'bool' = False) -> None",
    "Table": "(rows: 'pa.Table | Callable[[], pa.Table]') -> None",
    "text": "(path: 'str | Path') -> 'TextSource'",
    "recorded": "(path: 'str | Path', columns: 'Sequence[str] | None' = None) -> 'RecordedSource'",
    "resume": "(run: 'str | Path', *, runs_dir: 'str | Path' = PosixPath('runs'),"
    " subscriber: 'Subscriber | None' = None) -> 'Result'",
    "run": "(experiment: 'str | Path', *, settings: 'Mapping[str, Any] | None' = None,"
    " quick: 'bool' = False, runs_dir: 'str | Path' = PosixPath('runs'),"
    " subscriber: 'Subscriber | None' = None) -> 'Result'",
}

REQUIRED = "required"
FIELDS = {
    "Choice": {
        "distribution": "uniform",
        "zipf_s": 1.0,
        "kind": "choice",
        "values": REQUIRED,
        "weights": None,
    },
    "DataSet": {"streams": REQUIRED},
    "Flag": {"kind": "flag", "share": 0.5},
    "Json": {"kind": "json", "columns": REQUIRED},
    "Keys": {
        "distribution": "normal",
        "zipf_s": 1.0,
        "kind": "keys",
        "size": REQUIRED,
        "outside": 0.0,
        "moves_every": 0,
    },
    "Object": {"kind": "object", "columns": REQUIRED},
    "Real": {
        "distribution": "uniform",
        "zipf_s": 1.0,
        "kind": "real",
        "low": REQUIRED,
        "high": REQUIRED,
        "decimals": 2,
    },
    "StreamSpec": {"kind": "columns", "columns": REQUIRED, "reads": None},
    "Time": {
        "distribution": "uniform",
        "zipf_s": 1.0,
        "kind": "time",
        "low": REQUIRED,
        "high": REQUIRED,
        "step": 1_000_000,
    },
    "Uuid": {"distribution": "uniform", "zipf_s": 1.0, "kind": "uuid", "size": None},
    "Whole": {
        "distribution": "uniform",
        "zipf_s": 1.0,
        "kind": "whole",
        "low": REQUIRED,
        "high": REQUIRED,
    },
    "Words": {
        "distribution": "zipf",
        "zipf_s": 1.0,
        "kind": "words",
        "vocabulary": 10_000,
        "low": 5,
        "high": 15,
    },
}

RESULT = {"exit_code", "path", "read", "report", "series", "summary", "trials"}

ENTRY_POINTS = {
    "console_scripts": ["streamgauge"],
    "streamgauge.channels": ["direct", "kafka"],
    "streamgauge.faults": [
        *("corrupt", "drop", "fill", "kill", "lose", "pause", "restart", "slow"),
    ],
    "streamgauge.policies": ["combined", "count", "time"],
    "streamgauge.queries": [
        "espbench.ingestion",
        *(f"espbench.q{number}" for number in range(6)),
        "gaming.aggregation",
        "gaming.join",
        "gaming.nested",
        "grep",
        "pi",
        "wordcount",
        "yahoo",
    ],
    "streamgauge.schedules": ["bursts", "constant", "poisson", "ramp", "sine", "steps", "trace"],
    "streamgauge.services": ["kafka", "postgresql"],
    "streamgauge.systems": ["dual", "none", "program", "simulated", "spark", "spark-realtime"],
}

EXIT_CODES = {
    "VALID": 0,
    "FAILED": 1,
    "USAGE": 2,
    "INVALID": 3,
    "VOID": 4,
    "COMPONENT": 5,
    "INTERRUPTED": 130,
}

OPTIONS = {
    "doctor": "--no-spark --runs-dir --json",
    "list": "kind name --runs-dir --json",
    "new": "name --program --force",
    "validate": "experiment --set --quick --json",
    "run": "experiment --set --quick --json --runs-dir --dry-run --resume",
    "calculate": "run --runs-dir --json",
    "report": "run --runs-dir --open",
    "compare": "base others --fail-if --output --runs-dir --json",
    "dual": "",
    "services": "action kinds --json",
    "data": "benchmark --output --database --scale --seed --rows --sensors --now --force",
    "clean": "--runs-dir --keep --dry-run --yes",
}

DUAL = {
    "explain": "run --runs-dir --json",
    "run": "file --source --sink --brokers --checkpoint --cuts --master --duration",
}


def test_the_public_names_are_these_and_can_all_be_loaded() -> None:
    assert streamgauge.__all__ == NAMES
    for name in NAMES:
        assert getattr(streamgauge, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(streamgauge, "nothing")  # noqa: B009


def test_the_signatures_of_the_public_functions_are_these() -> None:
    found = {}
    for name in SIGNATURES:
        owner, _, method = name.partition(".")
        target = getattr(streamgauge, owner)
        found[name] = str(inspect.signature(getattr(target, method) if method else target))
    assert found == SIGNATURES


def test_every_public_function_and_class_is_pinned() -> None:
    pinned = {name.partition(".")[0] for name in SIGNATURES} | set(FIELDS)
    assert pinned == set(NAMES) - {"__version__"}


def test_the_fields_of_the_public_models_are_these() -> None:
    found = {}
    for name in FIELDS:
        model: type[BaseModel] = getattr(streamgauge, name)
        found[name] = {
            field: REQUIRED if info.is_required() else info.default
            for field, info in model.model_fields.items()
        }
    assert found == FIELDS


def test_a_result_has_these_attributes() -> None:
    fields = set(streamgauge.Result.__dataclass_fields__)
    assert {name for name in dir(streamgauge.Result) if name[0] != "_"} | fields == RESULT


def test_the_entry_points_are_these_and_can_all_be_loaded() -> None:
    found: dict[str, list[str]] = {}
    for point in distribution("streamgauge").entry_points:
        found.setdefault(point.group, []).append(point.name)
        assert callable(point.load())
    assert {group: sorted(names) for group, names in found.items()} == ENTRY_POINTS


def test_the_exit_codes_are_these() -> None:
    assert {code.name: code.value for code in ExitCode} == EXIT_CODES


def test_the_commands_and_their_options_are_these() -> None:
    context = click.Context(commands)
    found = {}
    for name in COMMANDS:
        command = commands.get_command(context, name)
        assert command is not None
        found[name] = " ".join(option.opts[0] for option in command.params)
    assert found == OPTIONS


def test_the_commands_of_the_runtime_and_their_options_are_these() -> None:
    group = commands.get_command(click.Context(commands), "dual")
    assert isinstance(group, click.Group)
    found = {
        name: " ".join(option.opts[0] for option in command.params)
        for name, command in group.commands.items()
    }
    assert found == DUAL
