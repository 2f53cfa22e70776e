"""The input times of results, whatever else a user's program writes into its topic."""

from __future__ import annotations

import pytest

from streamgauge.channels.kafka.collector import input_times

AT_US = 1_767_225_600_000_000


@pytest.mark.parametrize(
    ("messages", "times"),
    [
        ([b'{"at": %d}' % AT_US, b'{"id": 1, "at": %d}' % (AT_US + 1)], [AT_US, AT_US + 1]),
        ([b'{"at": "2026-01-01T00:00:00.000001Z"}'], [AT_US + 1]),
        ([b'{"at": "2026-01-01T01:00:00+01:00"}'], [AT_US]),
        ([b'{"at": "2026-01-01T00:00:00"}', b'{"id": 1}'], [AT_US, None]),
        ([b'{"id": 1}', b'{"at": null}'], [None, None]),
        # One message that cannot be read does not hide the others.
        ([b"no JSON", b'{"at": %d}' % AT_US, b"", b"7"], [None, AT_US, None, None]),
        ([b'{"at": %d}' % AT_US, b'{"at": "2026-01-01T00:00:00Z"}'], [AT_US, AT_US]),
        ([b'{"at":\n%d}' % AT_US, b'{"at": "soon"}'], [AT_US, None]),
        ([], []),
    ],
)
def test_the_time_of_the_last_input_is_read_from_each_result(
    messages: list[bytes], times: list[int | None]
) -> None:
    assert input_times(messages, "at").to_pylist() == times
