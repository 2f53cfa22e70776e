"""The processes of the Kafka channel: `python -m … instance CONFIG`, `… sink …`, `… log …`."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from streamgauge.channels.kafka.collector import Collector, CollectorConfig
from streamgauge.channels.kafka.log import LogConfig, read_logs
from streamgauge.channels.kafka.sender import Sender, SenderConfig
from streamgauge.processes.component import Console

STATUS_EVERY_S = 0.1


def run_sender(config: SenderConfig, console: Console) -> None:
    """Answers `start {start_us}`, `cut {end_us}` and `finish`; ends when the parent ends."""
    sender = Sender(config, console.emit)
    console.emit("ready")
    for message in console.commands():
        if message["command"] == "start":
            sender.start(message["start_us"])
        elif message["command"] == "cut":
            sender.cut(message["end_us"])
        elif message["command"] == "finish":
            sender.finish()
            console.emit("finished")


def run_collector(config: CollectorConfig, console: Console) -> None:
    """Answers `settle` and `finish`; ends when the parent ends."""
    collector = Collector(config, console.emit)
    console.emit("ready")
    stopping = threading.Event()

    def report() -> None:
        while not stopping.wait(STATUS_EVERY_S):
            console.emit("status", **collector.status().model_dump())

    threading.Thread(target=report, daemon=True).start()
    for message in console.commands():
        if message["command"] == "settle":
            collector.settle()
            console.emit("settled")
        elif message["command"] == "finish":
            stopping.set()
            console.emit("status", **collector.close().model_dump())
            console.emit("finished")


def main() -> None:
    role, text = sys.argv[1], Path(sys.argv[2]).read_text()
    console = Console()
    try:
        if role == "instance":
            run_sender(SenderConfig.model_validate_json(text), console)
        elif role == "log":
            console.emit("finished", messages=read_logs(LogConfig.model_validate_json(text)))
        else:
            run_collector(CollectorConfig.model_validate_json(text), console)
    except Exception as error:
        console.emit("failed", reason=f"{type(error).__name__}: {error}")
        raise


if __name__ == "__main__":
    main()
    # Threads of the client would keep the interpreter waiting for the broker.
    sys.stdout.flush()
    os._exit(0)
