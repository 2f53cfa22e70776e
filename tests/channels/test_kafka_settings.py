"""Settings of the Kafka channel that need no broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.channels.kafka.channel import KafkaChannel
from streamgauge.dual.spark.client import java_settings
from streamgauge.errors import ExperimentError


@pytest.mark.parametrize("key", ["sasl.password", "ssl.key.password", "ssl.key.pem"])
def test_a_secret_that_is_written_out_is_refused(key: str) -> None:
    with pytest.raises(ExperimentError, match="is a secret") as caught:
        KafkaChannel(client={key: "hunter2"}).resolved(Path())
    assert "hunter2" not in str(caught.value)
    assert "${env:NAME}" in caught.value.fix
    KafkaChannel(client={key: "${env:WORD}", "sasl.username": "me"}).resolved(Path())


def test_settings_of_librdkafka_are_given_to_the_java_client_in_its_own_words() -> None:
    assert java_settings({"bootstrap.servers": "b:9092"}) == {"bootstrap.servers": "b:9092"}
    found = java_settings(
        {
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": "me",
            "sasl.password": 'a"b',
            "ssl.ca.location": "/ca.pem",
        }
    )
    assert found == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required"
        ' username="me" password="a\\"b";',
        "ssl.truststore.location": "/ca.pem",
        "ssl.truststore.type": "PEM",
    }
