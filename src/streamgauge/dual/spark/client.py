"""Settings of the Python client as those of Spark's Kafka source and sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PEM = {"ssl.ca.location": "ssl.truststore", "ssl.keystore.location": "ssl.keystore"}


def spark_options(client: Mapping[str, Any]) -> dict[str, str]:
    """Options of the source and the sink."""
    return {f"kafka.{key}": value for key, value in java_settings(client).items()}


def java_settings(client: Mapping[str, Any]) -> dict[str, str]:
    """Settings of librdkafka as those of the Java client, which names some of them otherwise."""
    found = {key: str(value) for key, value in client.items()}
    if "sasl.mechanisms" in found:
        found["sasl.mechanism"] = found.pop("sasl.mechanisms")
    if "sasl.username" in found:
        name, word = found.pop("sasl.username"), found.pop("sasl.password", "")
        scram = found.get("sasl.mechanism", "PLAIN").startswith("SCRAM")
        module = "scram.ScramLoginModule" if scram else "plain.PlainLoginModule"
        found["sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.{module} required"
            f' username="{_escaped(name)}" password="{_escaped(word)}";'
        )
    for key, store in _PEM.items():
        if key in found:
            found[f"{store}.location"] = found.pop(key)
            found[f"{store}.type"] = "PEM"
    return found


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
