"""The bytes that processes exchange with others over TCP, as the kernel counts them."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

_SOCK_DIAG = 4
_BY_FAMILY = 20
_DUMP = 0x301
_ERROR, _DONE = 2, 3
_INFO = 2
_ESTABLISHED, _FIN_WAIT_1, _FIN_WAIT_2, _CLOSE_WAIT = 1, 4, 5, 8
_OPEN = 1 << _ESTABLISHED | 1 << _FIN_WAIT_1 | 1 << _FIN_WAIT_2 | 1 << _CLOSE_WAIT
"""A connection that one side has closed still carries bytes of the other."""
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI48x")
_MESSAGE = struct.Struct("=4x2s2s16s16s28xI")
_ATTRIBUTE = struct.Struct("=HH")
_ACKED_AND_RECEIVED = struct.Struct("=120xQQ")
_MAPPED = bytes(10) + b"\xff\xff"
_LONGEST_WAIT_S = 1.0


@dataclass(frozen=True)
class Connection:
    """One end of an open TCP connection."""

    local: bytes
    peer: bytes
    moved: int
    """Payload acknowledged or received since it was opened."""


Connections = Mapping[int, Connection]
"""By the inode of the socket."""


def open_connections() -> Connections | None:
    """Those of all processes; None if the kernel does not report them."""
    if sys.platform != "linux":
        return None
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
            kernel.settimeout(_LONGEST_WAIT_S)
            return {
                inode: connection
                for family in (socket.AF_INET, socket.AF_INET6)
                for inode, connection in _dump(kernel, family)
            }
    except (OSError, struct.error):
        return None


class Traffic:
    """The bytes that a set of processes exchanges with all others."""

    def __init__(self) -> None:
        # Closed sockets stay: one that a sample has missed is not a new one.
        self._seen: dict[int, int] = {}

    def grown(self, pids: Iterable[int], connections: Connections) -> int:
        """Bytes since the last sample, without connections between two of the processes.

        A new connection counts from its beginning.
        """
        own = {inode: connections[inode] for inode in _socket_inodes(pids) if inode in connections}
        ends = {(connection.local, connection.peer) for connection in own.values()}
        growth = sum(
            max(0, connection.moved - self._seen.get(inode, 0))
            for inode, connection in own.items()
            if (connection.peer, connection.local) not in ends
        )
        self._seen.update((inode, connection.moved) for inode, connection in own.items())
        return growth


def _dump(kernel: socket.socket, family: int) -> Iterator[tuple[int, Connection]]:
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INFO - 1), _OPEN)
    kernel.send(_HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _DUMP, 0, 0) + request)
    while True:
        data = kernel.recv(1 << 16)
        at = 0
        while at < len(data):
            length, kind, *_ = _HEADER.unpack_from(data, at)
            body = data[at + _HEADER.size : at + length]
            if kind in (_ERROR, _DONE):
                (code,) = struct.unpack_from("=i", body)
                if code < 0:
                    raise OSError(-code, os.strerror(-code))
                return
            local_port, peer_port, local, peer, inode = _MESSAGE.unpack_from(body)
            # A socket without a process may have no counters.
            if inode:
                acked, received = _ACKED_AND_RECEIVED.unpack_from(_info(body))
                ends = _address(family, local) + local_port, _address(family, peer) + peer_port
                yield inode, Connection(*ends, moved=acked + received)
            at += _aligned(length)


def _address(family: int, raw: bytes) -> bytes:
    """The same at both ends: one may have an IPv4 address in its IPv6 form."""
    return raw[:4] if family == socket.AF_INET else raw.removeprefix(_MAPPED)


def _info(body: bytes) -> bytes:
    """Empty if there is none; that of an old kernel is too short for the counters."""
    at = _MESSAGE.size
    while at < len(body):
        length, kind = _ATTRIBUTE.unpack_from(body, at)
        if kind == _INFO:
            return body[at + _ATTRIBUTE.size : at + length]
        at += max(_ATTRIBUTE.size, _aligned(length))
    return b""


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def _socket_inodes(pids: Iterable[int]) -> set[int]:
    found = set()
    for pid in pids:
        with suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    # A JVM has hundreds of open files: Path takes three times as long.
                    kind, _, inode = os.readlink(entry.path).partition(":[")  # noqa: PTH115
                    if kind == "socket":
                        found.add(int(inode.removesuffix("]")))
    return found
