"""A user's program on a channel: what the program is told, and whether it is seen to read."""

from __future__ import annotations

from abc import ABC, abstractmethod

from streamgauge.channels.kafka.channel import KafkaOffer
from streamgauge.channels.kafka.client import topics_read
from streamgauge.systems.base import Assignment

INPUT = "input"


class ProgramConnector(ABC):
    """The program's end of a channel."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment

    @property
    @abstractmethod
    def words(self) -> dict[str, str]:
        """By the names of the placeholders of a command."""

    @abstractmethod
    def reads(self) -> bool:
        """Whether the program is seen to read every stream."""

    @property
    def env(self) -> dict[str, str]:
        """The same words as environment variables."""
        return {
            f"STREAMGAUGE_{name.upper().replace('.', '_')}": word
            for name, word in self.words.items()
        }


class KafkaConnector(ProgramConnector):
    """Topics of a broker."""

    def __init__(self, assignment: Assignment) -> None:
        super().__init__(assignment)
        self._offer = KafkaOffer.model_validate(assignment.offer)

    @property
    def words(self) -> dict[str, str]:
        topics = self._offer.topics
        only = {INPUT: next(iter(topics.values()))} if len(topics) == 1 else {}
        named = {f"{INPUT}.{stream}": topic for stream, topic in topics.items()}
        brokers = str(self._offer.client["bootstrap.servers"])
        return {"brokers": brokers, **only, **named, "output": self._offer.output}

    def reads(self) -> bool:
        return set(self._offer.topics.values()) <= topics_read(self._offer.client)
