"""The processes of the direct channel: `python -m … instance CONFIG` and `… sink CONFIG`."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from streamgauge.channels.direct.security import Listen
from streamgauge.channels.direct.servers import QueueServer, SinkServer
from streamgauge.driver.config import InstanceConfig
from streamgauge.driver.instance import DriverInstance
from streamgauge.driver.sink import ResultSink
from streamgauge.models import StrictModel
from streamgauge.processes.component import Console

SINK_STATUS_EVERY_S = 0.5


class InstanceProcessConfig(StrictModel):
    instance: InstanceConfig
    listen: Listen


class SinkProcessConfig(StrictModel):
    folder: Path
    listen: Listen


def run_instance(config: InstanceProcessConfig, console: Console) -> None:
    """Answers `start {start_us}`, `cut {end_us}`, `cut_off {for_s}` and `finish`.

    It ends when the parent ends.
    """
    instance = DriverInstance(config.instance, console.emit)
    server = QueueServer(instance, config.listen)
    console.emit("ready", endpoint=config.listen.endpoint(server.port).model_dump())
    for message in console.commands():
        if message["command"] == "start":
            instance.start(message["start_us"])
        elif message["command"] == "cut":
            instance.queue.cut(message["end_us"])
        elif message["command"] == "cut_off":
            server.gate.close(message["for_s"])
        elif message["command"] == "finish":
            console.emit("finished", **instance.finish().model_dump())
    instance.finish()


def run_sink(config: SinkProcessConfig, console: Console) -> None:
    """Answers `cut_off {for_s}` and `finish`; ends with the parent, keeping what has arrived."""
    sink = ResultSink(config.folder)
    server = SinkServer(sink, config.listen)
    console.emit("ready", endpoint=config.listen.endpoint(server.port).model_dump())
    stopping = threading.Event()

    def report() -> None:
        while not stopping.wait(SINK_STATUS_EVERY_S):
            console.emit("status", **sink.status().model_dump())

    threading.Thread(target=report, daemon=True).start()
    for message in console.commands():
        if message["command"] == "cut_off":
            server.gate.close(message["for_s"])
        elif message["command"] == "finish":
            stopping.set()
            console.emit("finished", **sink.close().model_dump())
    sink.close()


def main() -> None:
    role, text = sys.argv[1], Path(sys.argv[2]).read_text()
    console = Console()
    if role == "instance":
        run_instance(InstanceProcessConfig.model_validate_json(text), console)
    else:
        run_sink(SinkProcessConfig.model_validate_json(text), console)


if __name__ == "__main__":
    main()
    # Flight's server threads would keep the interpreter waiting for open connections.
    sys.stdout.flush()
    os._exit(0)
