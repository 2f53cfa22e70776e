"""The support matrix: the capabilities of each installed system."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from streamgauge import plugins
from streamgauge.channels.base import Channel
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.systems.base import YES, Capability, System, not_yet


class Entry(NamedTuple):
    """One cell of the matrix."""

    system: str
    sort: str
    """channel, query or power."""
    name: str
    capability: Capability


def support_matrix() -> list[Entry]:
    """Every installed system × every installed channel and query, and its powers."""
    entries: list[Entry] = []
    for name in plugins.names("systems"):
        # A package that cannot be loaded is shown as broken in the list of systems.
        with contextlib.suppress(Exception):
            entries += list(_of_system(name))
    return entries


def connects(system: type[System], name: str, channel: type[Channel]) -> Capability:
    """Whether there is a connector, of the system or of the channel."""
    found = name in system.connectors or system.kind in channel.connectors
    return YES if found else not_yet("there is no connector for this channel")


def _of_system(name: str) -> Iterator[Entry]:
    system: type[System] = plugins.load("systems", name, key="systems")
    for channel in plugins.names("channels"):
        found: type[Channel] = plugins.load("channels", channel, key="channels")
        yield Entry(name, "channel", channel, connects(system, channel, found))
    for query in plugins.names("queries"):
        yield Entry(name, "query", query, system.can_run(build_query(QueryConfig(name=query))))
    for power, capability in system.powers.items():
        yield Entry(name, "power", power, capability)
