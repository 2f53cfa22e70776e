"""The direct channel with real Flight servers and clients on loopback."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight
import pytest
import trustme

from streamgauge.channels.direct.protocol import QueueClient, Range, SinkClient
from streamgauge.channels.direct.security import Endpoint, Listen
from streamgauge.channels.direct.servers import QueueServer, SinkServer
from streamgauge.driver.instance import DriverInstance
from streamgauge.driver.sink import ResultSink
from streamgauge.errors import ExperimentError
from streamgauge.events.spec import ARRIVAL
from streamgauge.parts import read_parts
from tests.loads import instance_of, load_of

LISTEN = Listen(token="a" * 16)
Served = tuple[DriverInstance, Endpoint, list[tuple[str, dict[str, Any]]]]


@contextmanager
def served(
    folder: Path, listen: Listen = LISTEN, start_us: int | None = None, **settings: Any
) -> Iterator[Served]:
    """A driver instance behind a server, whose load began ten seconds ago, or at that time."""
    reported: list[tuple[str, dict[str, Any]]] = []

    def report(event: str, **fields: Any) -> None:
        reported.append((event, fields))

    instance = DriverInstance(instance_of(load_of(**settings), 0, folder), report)
    instance.start(start_us or time.time_ns() // 1_000 - 10_000_000)
    server = QueueServer(instance, listen)
    wait_until(lambda: instance.queue.generated == instance.schedule.total)
    try:
        yield instance, listen.endpoint(server.port), reported
    finally:
        instance.finish()
        server.shutdown()


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def rows(batches: Iterator[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(list(batches))


def test_a_range_read_again_has_exactly_the_same_events(tmp_path: Path) -> None:
    with served(tmp_path, rate_per_s=100_000) as (instance, endpoint, _):
        client = QueueClient(endpoint)
        assert client.head_us() == 5_000_000
        wanted = Range(from_us=123_456, until_us=2_000_001)
        first = rows(client.fetch(wanted))
        assert rows(client.fetch(wanted)).equals(first)
        expected = instance.events.batch(
            instance.schedule.count_before(123_456),
            instance.schedule.count_before(2_000_001),
            int(first["event_time"][0].cast(pa.int64()).as_py())
            - instance.schedule.time_us(instance.schedule.count_before(123_456)),
        )
        assert first.to_pydict() == pa.Table.from_batches([expected]).to_pydict()


def test_a_committed_range_is_refused(tmp_path: Path) -> None:
    with served(tmp_path) as (_, endpoint, _):
        client = QueueClient(endpoint)
        client.commit(2_000_000)
        with pytest.raises(pa.ArrowException, match="committed and gone"):
            list(client.fetch(Range(from_us=0, until_us=3_000_000)))


def test_a_limit_divides_the_head(tmp_path: Path) -> None:
    with served(tmp_path, rate_per_s=1_000, instances=1) as (_, endpoint, _):
        assert QueueClient(endpoint).head_us(after_us=1_000_000, max_events=500) == 1_500_000


@pytest.mark.parametrize("rate_per_s", [20, 2_000_000])
def test_a_dropped_connection_is_reported_by_name_however_short_the_range(
    tmp_path: Path, rate_per_s: int
) -> None:
    with served(tmp_path, rate_per_s=rate_per_s, instances=1) as (instance, endpoint, reported):
        client = QueueClient(endpoint)
        stream = client.fetch(Range(from_us=0, until_us=5_000_000))
        next(stream)
        stream.close()
        client.close()
        wait_until(lambda: any(fields["dropped"] for _, fields in reported))
        (drop,) = instance.finish().dropped
        assert "driver instance 0" in drop
        assert f"{5 * rate_per_s:,}" in drop


def test_a_client_that_falls_silent_has_dropped_its_connection_at_the_end(tmp_path: Path) -> None:
    with served(tmp_path, rate_per_s=20, instances=1) as (instance, endpoint, _):
        stream = QueueClient(endpoint).fetch(Range(from_us=0, until_us=5_000_000))
        next(stream)
        assert len(instance.finish().dropped) == 1
        stream.close()


def test_a_range_read_to_its_end_is_no_dropped_connection(tmp_path: Path) -> None:
    with served(tmp_path, rate_per_s=200_000) as (instance, endpoint, _):
        client = QueueClient(endpoint)
        list(client.fetch(Range(from_us=0, until_us=5_000_000)))
        client.close()
        assert instance.finish().dropped == []


def test_what_was_handed_over_and_when_is_written_down(tmp_path: Path) -> None:
    with served(tmp_path, rate_per_s=10_000, instances=1) as (instance, endpoint, _):
        list(QueueClient(endpoint).fetch(Range(from_us=0, until_us=1_000_000)))
        status = instance.finish()
        assert status.offered == 50_000
        assert status.drained == 10_000
        handovers = read_parts(tmp_path / "handovers")
        assert handovers is not None
        assert handovers["until_us"].to_pylist()[-1] == 1_000_000
        samples = read_parts(tmp_path / "samples")
        assert samples is not None
        assert set(samples.column_names) == {"time_us", "offered", "drained", "queued", "lag_us"}
        assert status.fingerprint == instance.events.fingerprint(0, 50_000)


def test_a_range_without_events_is_handed_over_too(tmp_path: Path) -> None:
    with served(tmp_path, rate_per_s=2) as (instance, endpoint, _):
        assert list(QueueClient(endpoint).fetch(Range(from_us=100_000, until_us=400_000))) == []
        status = instance.finish()
        handovers = read_parts(tmp_path / "handovers")
        assert handovers is not None
        assert handovers["until_us"].to_pylist() == [400_000]
        assert (status.drained, status.bytes_handed) == (1, 0)
        assert status.dropped == []


@pytest.mark.parametrize("token", ["", "b" * 16])
def test_without_the_right_token_nothing_is_given(tmp_path: Path, token: str) -> None:
    with served(tmp_path) as (_, endpoint, _):
        stranger = QueueClient(endpoint.model_copy(update={"token": token}))
        with pytest.raises(flight.FlightUnauthenticatedError):
            stranger.head_us()
        with pytest.raises(flight.FlightUnauthenticatedError):
            list(stranger.fetch(Range(from_us=0, until_us=1)))


def test_tls_works_and_an_unencrypted_client_is_refused(tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    certificate.write_bytes(b"".join(c.bytes() for c in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    listen = Listen.checked("localhost", certificate, key, None)
    with served(tmp_path / "driver", listen) as (_, endpoint, _):
        trusted = endpoint.model_copy(
            update={"root_certificates": authority.cert_pem.bytes().decode()}
        )
        assert QueueClient(trusted).head_us() == 5_000_000
        plain = endpoint.model_copy(
            update={
                "location": endpoint.location.replace("grpc+tls", "grpc"),
                "root_certificates": None,
            }
        )
        with pytest.raises(pa.ArrowException):
            QueueClient(plain).head_us()


def test_an_address_with_colons_can_be_listened_on(tmp_path: Path) -> None:
    listen = Listen.checked("::1", None, None, None)
    assert listen.endpoint(5).location == "grpc://[::1]:5"
    if not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    with served(tmp_path, listen) as (_, endpoint, _):
        assert QueueClient(endpoint).head_us() == 5_000_000


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_beyond_loopback_tls_is_required(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="TLS is required") as caught:
        Listen.checked("0.0.0.0", None, None, None)
    assert caught.value.key == "channel.listen"
    with pytest.raises(ExperimentError, match="no file"):
        Listen.checked("0.0.0.0", tmp_path / "none.pem", tmp_path / "none.pem", None)


def test_a_token_is_made_where_none_is_given() -> None:
    one, other = (Listen.checked("127.0.0.1", None, None, None) for _ in range(2))
    assert len(one.token) >= 32
    assert one.token != other.token


def test_the_sink_stamps_and_keeps_what_arrives(tmp_path: Path) -> None:
    sink = ResultSink(tmp_path)
    server = SinkServer(sink, LISTEN)
    client = SinkClient(LISTEN.endpoint(server.port))
    before = time.time_ns() // 1_000
    client.put(pa.table({"key": [1, 2], "latest_event_time": pa.array([before, before])}))
    client.put(pa.table({"key": [3], "latest_event_time": pa.array([before])}))
    after = time.time_ns() // 1_000
    status = sink.close()
    server.shutdown()
    kept = read_parts(tmp_path)
    assert kept is not None
    assert sorted(kept["key"].to_pylist()) == [1, 2, 3]
    assert all(before <= stamp <= after for stamp in kept[ARRIVAL].to_pylist())
    assert status.results == 3
    assert status.last_latency_ms is not None
    assert 0 <= status.last_latency_ms <= (after - before) / 1_000


def test_a_delivery_with_a_name_counts_once_and_as_a_whole(tmp_path: Path) -> None:
    sink = ResultSink(tmp_path)
    server = SinkServer(sink, LISTEN)
    client = SinkClient(LISTEN.endpoint(server.port))
    for name in ("batch 1", "batch 2", "batch 1"):
        client.put(pa.table({"key": [1, 2]}), name)
    assert sink.close().results == 4
    server.shutdown()


def test_a_connection_that_is_cut_refuses_calls_for_a_while(tmp_path: Path) -> None:
    sink = ResultSink(tmp_path)
    server = SinkServer(sink, LISTEN)
    client = SinkClient(LISTEN.endpoint(server.port))
    server.gate.close(60.0)
    with pytest.raises(flight.FlightUnavailableError):
        client.put(pa.table({"key": [1]}))
    server.gate.close(0.0)
    client.put(pa.table({"key": [1]}))
    assert sink.close().results == 1
    server.shutdown()
