"""Limits of this machine, probed beside a study of senders and broker: loopback and disk."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict

LOOPBACK_S = 1.0
SYNCED_S = 2.0
_HOST = "127.0.0.1"
_PIECE = 1 << 20
_MOST_WRITTEN = 256 * _PIECE


class Probed(BaseModel):
    """What senders and a broker on this machine cannot exceed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    loopback_mb_per_s: float
    synced_write_mb_per_s: float | None
    """With synchronous writes, like `dd oflag=dsync`; None where the system has none."""


def probe(folder: Path) -> Probed:
    """Takes about three seconds; `folder` is on the disk in question."""
    return Probed(
        loopback_mb_per_s=loopback_mb_per_s(LOOPBACK_S),
        synced_write_mb_per_s=synced_write_mb_per_s(folder, SYNCED_S),
    )


def loopback_mb_per_s(seconds: float) -> float:
    """From one socket to another of this machine, one connection, pieces of 1 MiB."""
    with socket.create_server((_HOST, 0)) as server:
        sender = threading.Thread(target=_send, args=(server.getsockname(), seconds), daemon=True)
        sender.start()
        connection, _ = server.accept()
        buffer, received, began = bytearray(_PIECE), 0, time.monotonic()
        with connection:
            while count := connection.recv_into(buffer):
                received += count
        passed = time.monotonic() - began
        sender.join()
    return round(received / 1e6 / passed, 1)


def _send(address: tuple[str, int], seconds: float) -> None:
    piece, end = bytes(_PIECE), time.monotonic() + seconds
    with socket.create_connection(address) as connection:
        while time.monotonic() < end:
            connection.sendall(piece)


def synced_write_mb_per_s(folder: Path, seconds: float) -> float | None:
    """Each MiB is on the disk before the next one is written."""
    synchronous = getattr(os, "O_DSYNC", None)
    if synchronous is None:
        return None
    # Not zeros, which a file system may leave out.
    piece, written = os.urandom(_PIECE), 0
    with tempfile.TemporaryDirectory(dir=folder) as below:
        file = os.open(Path(below) / "probe", os.O_WRONLY | os.O_CREAT | synchronous, 0o600)
        try:
            began = time.monotonic()
            while written < _MOST_WRITTEN and time.monotonic() < began + seconds:
                written += os.write(file, piece)
            passed = time.monotonic() - began
        finally:
            os.close(file)
    return round(written / 1e6 / passed, 1)
