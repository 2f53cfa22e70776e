"""The interface of the simulated system to a channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import pyarrow as pa


class SimulatedConnector(ABC):
    """The simulated system's end of a channel; positions are times of the schedule."""

    @abstractmethod
    def head_us(self, after_us: int, most: int | None = None) -> int:
        """How far all streams may be read from `after_us`, at most `most` events."""

    @abstractmethod
    def fetch(self, from_us: int, until_us: int) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The events of that range, each batch with the name of its stream."""

    @abstractmethod
    def commit(self, until_us: int) -> None:
        """What lies before will not be fetched again."""

    @abstractmethod
    def put(self, results: pa.Table, name: str | None = None) -> None:
        """Delivers results; a name tells a delivery that comes again."""

    @abstractmethod
    def drop_connection(self, position_us: int) -> None:
        """Asks for all queued events and closes the connection in the middle of the answer."""

    @abstractmethod
    def close(self) -> None: ...
