"""Settings of Spark that depend on the machine."""

from __future__ import annotations

import os

import pytest
from pydantic import ValidationError

from streamgauge.systems.spark.system import SparkSystem


def test_only_cpus_that_this_process_may_use_can_be_pinned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 3}, raising=False)
    assert SparkSystem(cpus=[1, 3]).cpus == [1, 3]
    with pytest.raises(ValidationError, match="no CPU 2 to be used here; there are 1, 3"):
        SparkSystem(cpus=[1, 2])


def test_where_a_process_cannot_be_bound_all_cpus_can_be_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert SparkSystem(cpus=[0, 1]).cpus == [0, 1]
    with pytest.raises(ValidationError, match="no CPU 2"):
        SparkSystem(cpus=[2])
