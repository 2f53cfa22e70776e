"""Jars: pinned, verified, fetched once; nothing here needs a network."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from streamgauge.errors import ComponentError
from streamgauge.processes.launcher import Launcher
from streamgauge.services import jars


@pytest.fixture
def one_jar(monkeypatch: pytest.MonkeyPatch) -> jars.Jar:
    digest = hashlib.sha256(b"a jar").hexdigest()
    jar = jars.Jar(group="nobody.example", artifact="thing", version="1", sha256=digest)
    monkeypatch.setattr(jars, "locked", lambda _: [jar])
    return jar


def test_the_lock_names_every_jar_once_with_its_checksum() -> None:
    for name in ("kafka-broker", "spark-kafka-connector"):
        found = jars.locked(name)
        assert found
        assert len({jar.file_name for jar in found}) == len(found)
        assert all(len(jar.sha256) == 64 for jar in found)


def test_a_jar_that_is_there_is_not_fetched(one_jar: jars.Jar, tmp_path: Path) -> None:
    (tmp_path / one_jar.file_name).write_bytes(b"a jar")
    said: list[str] = []
    found = jars.have_jars("thing", Launcher({}), said.append, folder=tmp_path)
    assert found == [tmp_path / "thing-1.jar"]
    assert said == []


def test_a_jar_with_another_checksum_is_refused(one_jar: jars.Jar, tmp_path: Path) -> None:
    (tmp_path / one_jar.file_name).write_bytes(b"another jar")
    with pytest.raises(ComponentError, match="checksum differs"):
        jars.have_jars("thing", Launcher({}), lambda _: None, folder=tmp_path)


@pytest.mark.usefixtures("one_jar")
def test_a_jar_that_cannot_be_fetched_is_named_with_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(jars.MIRRORS[0], (tmp_path / "no repository").as_uri())
    with pytest.raises(ComponentError, match=r"thing-1\.jar") as caught:
        jars.have_jars("thing", Launcher({}), lambda _: None, folder=tmp_path / "jars")
    assert jars.FOLDER in caught.value.fix
    assert caught.value.log is not None
    assert "thing" in caught.value.log.read_text()


@pytest.mark.usefixtures("one_jar")
def test_a_mirror_of_the_users_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "mirror" / "nobody" / "example" / "thing" / "1"
    place.mkdir(parents=True)
    (place / "thing-1.jar").write_bytes(b"a jar")
    (place / "thing-1.pom").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>nobody.example</groupId>"
        "<artifactId>thing</artifactId><version>1</version></project>"
    )
    monkeypatch.setenv(jars.MIRRORS[0], (tmp_path / "mirror").as_uri())
    said: list[str] = []
    folder = tmp_path / "jars"
    (found,) = jars.have_jars("thing", Launcher({}), said.append, folder=folder)
    assert found.read_bytes() == b"a jar"
    assert said[0] == "fetching 1 jars, once: 0 %"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, []),
        ({"https_proxy": "http://me:word@proxy.example:3128/"}, ["proxy.example", "3128"]),
        ({"HTTPS_PROXY": "proxy.example:3128"}, ["proxy.example", "3128"]),
    ],
)
def test_the_usual_proxy_settings_reach_java(env: dict[str, str], expected: list[str]) -> None:
    assert [option.partition("=")[2] for option in jars._proxy(env)] == expected
