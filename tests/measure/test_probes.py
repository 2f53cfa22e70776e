"""Limits of this machine are measured, and leave nothing behind."""

from __future__ import annotations

from pathlib import Path

from streamgauge.measure.probes import loopback_mb_per_s, synced_write_mb_per_s


def test_the_loopback_moves_something() -> None:
    assert loopback_mb_per_s(0.1) > 0


def test_the_disk_is_written_and_cleaned_again(tmp_path: Path) -> None:
    found = synced_write_mb_per_s(tmp_path, 0.1)
    assert found is None or found > 0
    assert list(tmp_path.iterdir()) == []
