"""What each observer of ``watch`` adds: processor time of a replay with it, over that of one without.

``python benchmarks/observers.py [DATASET]`` prints one JSON object an option; the collector is a local server
that throws away what it gets. A replay at full speed compresses hours into seconds, so exports by the clock
(every 10 s) hardly occur in it: what is measured is what each sample costs.
"""

import json
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from flopwitness.app.opening import open_recording

DATASET = Path(__file__).resolve().parents[1] / "datasets" / "h200x2-a"
N_TIMES = 3
COMMAND = "from flopwitness.app.cli.main import run; run()"


class Sink(BaseHTTPRequestHandler):
    """Takes everything."""

    def do_POST(self) -> None:
        """Throw it away."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def sink() -> Iterator[str]:
    """Run a collector on a free port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def processor_seconds(*options: str) -> float:
    """Return the least processor time of some runs."""
    return min(_once(options) for _ in range(N_TIMES))


def _once(options: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603  our own command
        [sys.executable, "-c", COMMAND, "watch", *options],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(dataset: Path) -> None:
    """Measure and print."""
    recording = open_recording(dataset)
    hours = sum(float(trace.seconds()[-1]) for trace in recording.traces) / 3600
    replay = ("--replay", str(dataset), "--json")
    with tempfile.TemporaryDirectory() as folder, sink() as url:
        first = Path(folder) / "jobs.jsonl"
        uuids = [trace.device.uuid for trace in recording.traces]
        start = {"event": "start", "job_id": "1", "at": "2020-01-01T00:00:00Z", "gpus": uuids}
        first.write_text(json.dumps(start) + "\n", encoding="utf-8")
        options = {
            "jobs": ("--jobs", folder),
            "listen": ("--listen", "127.0.0.1:0"),
            "otlp": ("--otlp", url),
        }
        plain = processor_seconds(*replay)
        for name, more in {"nothing": (), **options}.items():
            seconds = processor_seconds(*replay, *more) if more else plain
            added = (seconds - plain) / (hours * 3600)
            print(  # noqa: T201  what a benchmark is for
                json.dumps({"with": name, "seconds": round(seconds, 2), "added_core_ratio": round(added, 6)})
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATASET)
