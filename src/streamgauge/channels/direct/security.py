"""Access to our Flight servers: a token on every address, TLS too beyond loopback."""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from pathlib import Path
from typing import Any

import pyarrow.flight as flight

from streamgauge.errors import ExperimentError
from streamgauge.models import StrictModel

_HEADER = "authorization"
_TOKEN = re.compile("[!-~]{16,1024}")


class Listen(StrictModel):
    """Where a server listens and what a client must present."""

    host: str = "127.0.0.1"
    token: str
    certificate: Path | None = None
    private_key: Path | None = None

    @classmethod
    def checked(
        cls, host: str, certificate: Path | None, private_key: Path | None, token: str | None
    ) -> Listen:
        """Refuses to listen beyond this machine without TLS; makes a token where none is given."""
        files = {"certificate": certificate, "private_key": private_key}
        missing = [key for key, path in files.items() if path is None]
        if missing and not _is_loopback(host):
            raise ExperimentError(
                "channel.listen",
                f"`{host}` can be reached from other machines, so TLS is required",
                fix="give channel.certificate and channel.private_key (PEM files), "
                "or listen on 127.0.0.1",
            )
        for key, path in files.items():
            if path is not None and not _is_file(path):
                raise ExperimentError(f"channel.{key}", f"there is no file {path}")
        if len(missing) == 1:
            fix = "give both for TLS, or neither"
            raise ExperimentError(f"channel.{missing[0]}", "is missing", fix=fix)
        if token is not None and not _TOKEN.fullmatch(token):
            raise ExperimentError(
                "channel.token",
                "cannot be sent in a header, or is guessed too easily",
                fix="use 16 to 1,024 visible ASCII characters without blanks, or leave it out",
            )
        return cls(host=host, token=token or secrets.token_hex(16), **files)

    def server_arguments(self) -> dict[str, Any]:
        """Arguments for `FlightServerBase`; the operating system chooses the port."""
        certificates = []
        if self.certificate is not None and self.private_key is not None:
            certificates = [(self.certificate.read_bytes(), self.private_key.read_bytes())]
        return {
            "location": self._location(self.host, 0),
            "middleware": {"token": _RequireToken(self.token)},
            "tls_certificates": certificates,
        }

    def endpoint(self, port: int) -> Endpoint:
        host = socket.getfqdn() if self.host in ("0.0.0.0", "::") else self.host
        return Endpoint(
            location=self._location(host, port),
            token=self.token,
            root_certificates=self.certificate.read_text() if self.certificate else None,
        )

    def _location(self, host: str, port: int) -> str:
        scheme = "grpc" if self.certificate is None else "grpc+tls"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


class Endpoint(StrictModel):
    """The address of a server, and what a client needs to call it."""

    location: str
    token: str
    root_certificates: str | None = None

    def connect(self) -> flight.FlightClient:
        trusted = self.root_certificates
        return flight.connect(self.location, tls_root_certs=trusted.encode() if trusted else None)

    def call_options(self) -> flight.FlightCallOptions:
        return flight.FlightCallOptions(
            headers=[(_HEADER.encode(), f"Bearer {self.token}".encode())]
        )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # Such as a name that is too long.
        return False


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _RequireToken(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    def __init__(self, token: str) -> None:
        super().__init__()
        self._wanted = f"Bearer {token}"

    def start_call(self, info: Any, headers: Any) -> None:  # noqa: ARG002
        given = next(iter(headers.get(_HEADER, [])), "")
        if not hmac.compare_digest(given, self._wanted):
            raise flight.FlightUnauthenticatedError("the token is missing or wrong")
