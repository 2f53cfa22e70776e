"""Counts by campaign and window in a Redis of the user's.

`NAME` is the set of the campaigns, and `NAME:CAMPAIGN` a hash from the start of each window, in
microseconds since 1970, to the count. Every key expires a day after it was last written: until then
the results can be looked at, and a run that was killed leaves nothing for longer.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from streamgauge.errors import ComponentError, ExperimentError
from streamgauge.queries.base import Mirror

REDIS = "redis"
KEPT_S = 86_400
PATIENCE_S = 20.0
"""How long a Redis that does not answer is waited for."""
_KEY = f"services.{REDIS}"
_TIMEOUT_S = 5.0
_READ_AT_ONCE = 1_000
_REFERENCE = re.compile(r"\$\{[^}]*\}")


def check_address(address: str) -> None:
    """ExperimentError: not an address of a Redis, or no package to speak with it."""
    # What a reference stands for is not looked at before the run.
    if not _REFERENCE.fullmatch(address) and not _is_address(_REFERENCE.sub("1", address)):
        problem = f"`{address}` is not the address of a Redis"
        raise ExperimentError(
            _KEY, problem, fix="write `redis://host:6379/0`, `rediss://…` for TLS, or `host:port`"
        )
    if find_spec("redis") is None:
        problem = "needs the Python package `redis`, which is not installed"
        raise ExperimentError(_KEY, problem, fix="pip install 'streamgauge[redis]'")


def _is_address(text: str) -> bool:
    try:
        url = urlsplit(_url(text))
        # A port that is no number is refused only when it is asked for.
        complete = "://" in text or (url.port is not None and not url.path)
    except ValueError:
        return False
    return (
        complete
        and url.scheme in ("redis", "rediss")
        and bool(url.hostname)
        and re.fullmatch(r"/?|/\d+", url.path) is not None
        and re.search(r"\s", text) is None
    )


def check_answer(address: str) -> None:
    """ExperimentError: there is no Redis, or it cannot be written to."""
    check_address(address)
    import redis

    client = _client(address)
    try:
        client.set("streamgauge-check", "", ex=1)
    except redis.RedisError as error:
        problem = f"the Redis at {_place(address)} cannot be used: {error}"
        fix = "start it, or correct the address; without it results are in a topic only"
        raise ExperimentError(_KEY, problem, fix=fix) from None
    finally:
        client.close()


class RedisCounts(Mirror):
    """`columns` are those of the start of the window, of the campaign and of the count."""

    def __init__(self, address: str, name: str, columns: tuple[str, str, str]) -> None:
        self._client = _client(address)
        self._place = _place(address)
        self._name = name
        self._columns = columns

    def apply(self, results: Iterable[bytes]) -> None:
        window, campaign, count = self._columns
        counts: dict[str, dict[int, int]] = {}
        for message in results:
            found = json.loads(message)
            counts.setdefault(found[campaign], {})[found[window]] = found[count]
        if counts:
            self._write_patiently(counts)

    def rows(self) -> Iterator[pa.RecordBatch]:
        import redis

        kinds = (pa.timestamp("us", tz="UTC"), pa.string(), pa.int64())
        schema = pa.schema(list(zip(self._columns, kinds, strict=True)))
        try:
            campaigns = iter(sorted(self._client.smembers(self._name)))
            while some := list(islice(campaigns, _READ_AT_ONCE)):
                with self._client.pipeline(transaction=False) as pipe:
                    for campaign in some:
                        pipe.hgetall(f"{self._name}:{campaign}")
                    hashes = pipe.execute()
                found = [
                    dict(zip(self._columns, (int(start), campaign, int(count)), strict=True))
                    for campaign, windows in zip(some, hashes, strict=True)
                    for start, count in windows.items()
                ]
                yield pa.RecordBatch.from_pylist(found, schema)
        except redis.RedisError as error:
            raise ComponentError(f"the Redis at {self._place} cannot be read: {error}") from error

    def _write_patiently(self, counts: Mapping[str, Mapping[int, int]]) -> None:
        """A batch that was written in part is written again: that changes nothing."""
        import redis

        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._write(counts)
            except redis.RedisError as error:
                if time.monotonic() > deadline_s:
                    problem = f"the Redis at {self._place} takes no more results: {error}"
                    raise ComponentError(problem, fix="see its log") from error
                time.sleep(0.2)
            else:
                return

    def _write(self, counts: Mapping[str, Mapping[int, int]]) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            pipe.sadd(self._name, *counts)
            pipe.expire(self._name, KEPT_S)
            for campaign, windows in counts.items():
                key = f"{self._name}:{campaign}"
                pipe.hset(key, mapping=dict(windows))
                pipe.expire(key, KEPT_S)
            pipe.execute()


def _url(address: str) -> str:
    return address if "://" in address else f"redis://{address}"


def _place(address: str) -> str:
    """Without user and password."""
    url = urlsplit(_url(address))
    return f"{url.hostname}:{url.port or 6379}"


def _client(address: str) -> Any:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return redis.Redis.from_url(
        _url(address),
        decode_responses=True,
        socket_connect_timeout=_TIMEOUT_S,
        socket_timeout=_TIMEOUT_S,
        # Those who use it decide how long to try.
        retry=Retry(NoBackoff(), 0),
    )
