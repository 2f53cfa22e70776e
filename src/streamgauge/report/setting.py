"""What a report shows at its top: what runs, on which system, on which machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamgauge.measure.summary import Summary
from streamgauge.report.cases import RATE, SEARCH, setting_text

_MOST_NAMES = 3
_OF_THE_SYSTEM = {
    "master": "master {}",
    "cluster.workers": "{} workers",
    "cluster.cores": "{} cores each",
    "cores": "{} cores",
    "memory": "memory {}",
}
_OF_THE_MACHINE = {
    "cores": "{} cores",
    "memory_gb": "{} GB",
    "loopback_mb_per_s": "loopback {} MB/s",
    "synced_write_mb_per_s": "synchronous writes to disk {} MB/s",
}


def what_runs(summary: Summary) -> str:
    """`gaming.aggregation on spark at 100,000/s`; empty if the parameters are not known."""
    query, system = (
        _names(summary.parameters.get(key)) for key in ("workload.query", "system.name")
    )
    if not (query and system):
        return ""
    return " ".join(filter(None, (query, "on", system, _rate(summary.parameters.get(RATE)))))


def _names(value: object) -> str:
    several = value if isinstance(value, list) else [value] if value else []
    if len(several) > _MOST_NAMES:
        return f"{len(several)} of them"
    return " and ".join(map(setting_text, several))


def _rate(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return f"at {len(value)} rates"
    if value == SEARCH:
        return "at its maximum rate"
    text = setting_text(value, RATE)
    return f"at {text} of its maximum rate" if text.endswith("%") else f"at {text}"


def facts(summary: Summary) -> Iterator[tuple[str, str]]:
    """System, machine and versions, a line each; nothing for what was not recorded."""
    parameters, versions = summary.parameters, dict(summary.versions)
    system = _names(parameters.get("system.name"))
    words = [f"{system} {versions.pop(system, '')}".strip()]
    for key, text in _OF_THE_SYSTEM.items():
        value = parameters.get(f"system.{key}")
        # A cluster of its own is used instead of a master.
        if value is not None and not (key == "master" and "system.cluster.workers" in parameters):
            words.append(text.format(setting_text(value)))
    machine = [
        _OF_THE_MACHINE.get(name, "{}").format(setting_text(value))
        for name, value in summary.machine.items()
    ]
    others = [f"{name} {version}" for name, version in versions.items()]
    lines = {
        "system": words,
        "channel": list(_channel(parameters)),
        "machine": machine,
        "versions": others,
    }
    for name, found in lines.items():
        if text := ", ".join(filter(None, found)):
            yield name, text


def _channel(parameters: Mapping[str, object]) -> Iterator[str]:
    """Its name, how events come in and results go out, and the format of a message."""
    yield _names(parameters.get("channel.name"))
    for key, text in (("system.source", "in: {}"), ("system.sink", "out: {}")):
        if value := parameters.get(key):
            yield text.format(value)
    if value := parameters.get("channel.format"):
        yield f"events as {str(value).upper()}"
