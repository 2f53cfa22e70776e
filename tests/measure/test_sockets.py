from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.measure.sockets import Connections, Traffic, open_connections

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")

FIN_WAIT_2 = "05"
PAYLOAD = 5_000_000
A_FEW = 100
"""Heads and answers; an answer may be acknowledged later."""
SERVER = """
import socket, sys
options = {"family": socket.AF_INET6, "dualstack_ipv6": True} if sys.argv[1] == "::" else {}
with socket.create_server((sys.argv[1], 0), **options) as listening:
    print(listening.getsockname()[1], flush=True)
    peer = listening.accept()[0]
while head := peer.recv(8, socket.MSG_WAITALL):
    left = int.from_bytes(head, "big")
    while left:
        left -= len(peer.recv(min(left, 65536)))
    peer.sendall(b"!")
sys.stdin.read()
"""
CLIENT = """
import socket, sys
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for line in sys.stdin:
    if line == "finish\\n":
        peer.shutdown(socket.SHUT_WR)
    else:
        peer.sendall(int(line).to_bytes(8, "big") + bytes(int(line)))
        peer.recv(1)
    print("done", flush=True)
"""
WITHOUT_A_SOCKET = """
import resource
from streamgauge.measure.sockets import open_connections
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
print(open_connections())
"""


class Peers:
    """Two processes with a TCP connection between them, which stays open."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._server = _child(SERVER, host)
        self._client = _child(CLIENT, _line(self._server))
        # From here on both ends belong to a process.
        self.exchange(0)

    def __enter__(self) -> Peers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self._client, self._server):
            process.kill()
            process.communicate()

    @property
    def client(self) -> int:
        return self._client.pid

    @property
    def server(self) -> int:
        return self._server.pid

    def exchange(self, count: int) -> None:
        """The client sends; the server answers when all bytes have arrived."""
        self._send_to_client(str(count))

    def finish(self) -> None:
        """The client closes its direction of the connection."""
        self._send_to_client("finish")

    def end_client(self) -> None:
        self._client.kill()
        self._client.wait()

    def _send_to_client(self, line: str) -> None:
        assert self._client.stdin is not None
        print(line, file=self._client.stdin, flush=True)
        assert _line(self._client) == "done"


def _child(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _state(port: int) -> str | None:
    """The state of the connection from this port, in the kernel's table."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    return next((row[3] for row in rows if row[1].endswith(f":{port:04X}")), None)


@pytest.fixture(params=["IPv4", "IPv4 within IPv6"])
def peers(request: pytest.FixtureRequest) -> Iterator[Peers]:
    """The sockets of a JVM are of IPv6, whatever address they have."""
    within = request.param == "IPv4 within IPv6"
    if within and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    with Peers("::" if within else "127.0.0.1") as peers:
        yield peers


def connections() -> Connections:
    found = open_connections()
    assert found is not None
    return found


def test_sender_and_receiver_have_the_same_bytes(peers: Peers) -> None:
    sender, receiver = Traffic(), Traffic()
    watched = (sender, peers.client), (receiver, peers.server)
    for traffic, pid in watched:
        traffic.grown([pid], connections())

    peers.exchange(PAYLOAD)
    for traffic, pid in watched:
        assert traffic.grown([pid], connections()) == pytest.approx(PAYLOAD, rel=0.02)
        assert traffic.grown([pid], connections()) < A_FEW

    peers.exchange(PAYLOAD // 2)
    for traffic, pid in watched:
        assert traffic.grown([pid], connections()) == pytest.approx(PAYLOAD // 2, rel=0.02)


def test_a_new_connection_counts_from_its_beginning(peers: Peers) -> None:
    peers.exchange(PAYLOAD)
    assert Traffic().grown([peers.server], connections()) == pytest.approx(PAYLOAD, rel=0.02)


def test_half_closed_connections_still_count(peers: Peers) -> None:
    peers.exchange(PAYLOAD)
    peers.finish()
    for pid in (peers.client, peers.server):
        assert Traffic().grown([pid], connections()) == pytest.approx(PAYLOAD, rel=0.02)


def test_a_connection_within_the_node_is_left_out(peers: Peers) -> None:
    traffic = Traffic()
    node = [peers.client, peers.server]
    assert traffic.grown(node, connections()) == 0
    peers.exchange(PAYLOAD)
    assert traffic.grown(node, connections()) == 0

    # Bytes within the node do not count later either, when one end is closed.
    peers.end_client()
    assert traffic.grown(node, connections()) < A_FEW


def test_other_processes_do_not_count(peers: Peers) -> None:
    with Peers() as others:
        traffic = Traffic()
        traffic.grown([others.client], connections())
        peers.exchange(PAYLOAD)
        assert traffic.grown([others.client], connections()) < A_FEW


def test_a_socket_that_a_sample_has_missed_is_not_a_new_one(peers: Peers) -> None:
    traffic = Traffic()
    peers.exchange(PAYLOAD)
    traffic.grown([peers.server], connections())
    assert traffic.grown([peers.server], {}) == 0
    assert traffic.grown([], connections()) == 0
    assert traffic.grown([peers.server], connections()) < A_FEW


def test_all_connections_are_found_in_an_answer_of_many_messages() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ends = []
        for _ in range(150):
            ends += [socket.create_connection(server.getsockname()), server.accept()[0]]
        found = connections()
        for end in ends:
            connection = found[os.fstat(end.fileno()).st_ino]
            ports = end.getsockname()[1], end.getpeername()[1]
            assert (connection.local, connection.peer) == tuple(
                socket.inet_aton("127.0.0.1") + port.to_bytes(2, "big") for port in ports
            )
            end.close()


def test_a_closed_connection_without_a_process_is_left_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        with server.accept()[0]:
            port = client.getsockname()[1]
            client.close()
            end = time.monotonic() + 60
            while _state(port) != FIN_WAIT_2 and time.monotonic() < end:
                time.sleep(0.01)
            assert _state(port) == FIN_WAIT_2
            assert open_connections() is not None


def test_without_an_answer_of_the_kernel_there_are_no_connections() -> None:
    child = _child(WITHOUT_A_SOCKET)
    assert child.communicate()[0] == "None\n"
    assert child.returncode == 0


def test_a_process_that_is_gone_has_no_traffic() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert Traffic().grown([gone.pid], connections()) == 0
