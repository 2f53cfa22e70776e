"""The Kafka broker, real: of the worker, and one that asks for a password."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from streamgauge.channels.kafka import client
from streamgauge.errors import ComponentError
from streamgauge.processes.guard import Guard
from streamgauge.processes.launcher import Launcher
from streamgauge.services.base import HOST
from streamgauge.services.kafka import KafkaBroker

_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


class GuardedBroker(KafkaBroker):
    """Asks its clients for a password, as the broker of a company does."""

    def _properties(self) -> Path:
        path = super()._properties()
        text = path.read_text().replace("PLAINTEXT://", "SASL_PLAINTEXT://")
        text = text.replace("PLAINTEXT:PLAINTEXT", "SASL_PLAINTEXT:SASL_PLAINTEXT")
        names = 'username="tester" password="tulip" user_tester="tulip"'
        more = {
            "inter.broker.listener.name": "SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{_LOGIN} {names};",
        }
        path.write_text(text + "".join(f"{name}={value}\n" for name, value in more.items()))
        return path


def test_it_keeps_topics_for_its_clients(broker: str) -> None:
    settings = {"bootstrap.servers": broker}
    client.make_topics(settings, ["some-topic"], 3, 1, {})
    assert client.existing_topics(settings)["some-topic"] == 3
    client.delete_topics(settings, ["some-topic"])
    assert "some-topic" not in client.existing_topics(settings)
    assert broker.startswith(f"{HOST}:")


def test_a_client_with_a_secret_from_the_environment_or_a_file_is_let_in(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_WORD", "tulip")
    (tmp_path / "word").write_text("tulip\n")
    launcher = Launcher(guard.env)
    with GuardedBroker(folder=guard.scratch / "broker", logs=tmp_path, launcher=launcher) as one:
        settings = {
            "bootstrap.servers": one.address,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanisms": "PLAIN",
            "sasl.username": "tester",
        }
        for reference in ("${env:KAFKA_WORD}", f"${{file:{tmp_path / 'word'}}}"):
            assert client.existing_topics({**settings, "sasl.password": reference}) == {}
        monkeypatch.setattr(client, "TIMEOUT_S", 2.0)
        monkeypatch.setenv("KAFKA_WORD", "daisy")
        with pytest.raises(ComponentError, match="does not answer"):
            client.existing_topics({**settings, "sasl.password": "${env:KAFKA_WORD}"})


def test_it_starts_with_an_id_that_looks_like_an_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dashed = uuid.UUID(bytes=b"\xfb" * 16)
    monkeypatch.setattr(uuid, "uuid4", lambda: dashed)
    with Guard() as guard:
        launcher = Launcher(guard.env)
        folder = guard.scratch / "broker"
        with KafkaBroker(folder=folder, logs=tmp_path, launcher=launcher) as started:
            assert started.address


@pytest.mark.parametrize("at_once", [True, False])
def test_it_is_ended_on_purpose_and_started_again_with_its_topics(
    guard: Guard, tmp_path: Path, *, at_once: bool
) -> None:
    launcher = Launcher(guard.env)
    with KafkaBroker(folder=guard.scratch / "broker", logs=tmp_path, launcher=launcher) as one:
        settings = {"bootstrap.servers": one.address}
        client.make_topics(settings, ["some-topic"], 3, 1, {})
        one.end(at_once=at_once)
        one.check()
        one.revive()
        assert {"bootstrap.servers": one.address} == settings
        assert client.existing_topics(settings)["some-topic"] == 3
