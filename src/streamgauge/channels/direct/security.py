"""Who may talk to a Flight server of ours: on loopback with a token, elsewhere with TLS besides."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from pathlib import Path
from typing import Any

import pyarrow.flight as flight
from pydantic import BaseModel, ConfigDict

from streamgauge.errors import ExperimentError

_HEADER = "authorization"


class Listen(BaseModel):
    """Where a server of ours listens and what a client must present."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    token: str
    certificate: Path | None = None
    private_key: Path | None = None

    @classmethod
    def checked(
        cls, host: str, certificate: Path | None, private_key: Path | None, token: str | None
    ) -> Listen:
        """Refuses to listen beyond this machine without TLS; makes a token where none is given."""
        if not is_loopback(host) and (certificate is None or private_key is None):
            raise ExperimentError(
                "channel.listen",
                f"`{host}` can be reached from other machines, so TLS is required",
                fix="give channel.certificate and channel.private_key (PEM files), "
                "or listen on 127.0.0.1",
            )
        for key, path in (("certificate", certificate), ("private_key", private_key)):
            if path is not None and not path.is_file():
                raise ExperimentError(f"channel.{key}", f"there is no file {path}")
        if (certificate is None) != (private_key is None):
            lacking = "certificate" if certificate is None else "private_key"
            raise ExperimentError(
                f"channel.{lacking}", "is missing", fix="give both for TLS, or neither"
            )
        return cls(
            host=host,
            token=token or secrets.token_hex(16),
            certificate=certificate,
            private_key=private_key,
        )

    def server_arguments(self) -> dict[str, Any]:
        """Arguments for `FlightServerBase`; port 0 lets the system choose one."""
        arguments: dict[str, Any] = {"middleware": {"token": _RequireToken(self.token)}}
        if self.certificate is not None and self.private_key is not None:
            pair = (self.certificate.read_bytes(), self.private_key.read_bytes())
            arguments["tls_certificates"] = [pair]
        arguments["location"] = self._location(self.host, 0)
        return arguments

    def endpoint(self, port: int) -> Endpoint:
        host = socket.getfqdn() if self.host in ("0.0.0.0", "::") else self.host
        return Endpoint(
            location=self._location(host, port),
            token=self.token,
            root_certificates=self.certificate.read_text() if self.certificate else None,
        )

    def _location(self, host: str, port: int) -> str:
        scheme = "grpc" if self.certificate is None else "grpc+tls"
        # The colons of an IPv6 address would be taken for that of the port.
        name = f"[{host}]" if ":" in host else host
        return f"{scheme}://{name}:{port}"


class Endpoint(BaseModel):
    """How to reach a server of ours."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    location: str
    token: str
    root_certificates: str | None = None

    def connect(self) -> flight.FlightClient:
        if self.root_certificates is None:
            return flight.connect(self.location)
        return flight.connect(self.location, tls_root_certs=self.root_certificates.encode())

    def call_options(self, timeout_s: float | None = None) -> flight.FlightCallOptions:
        headers = [(_HEADER.encode(), f"Bearer {self.token}".encode())]
        return flight.FlightCallOptions(timeout=timeout_s, headers=headers)


def is_loopback(host: str) -> bool:
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
