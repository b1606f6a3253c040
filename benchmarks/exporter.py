"""How long a scrape of ``/metrics`` takes: a thousand GPUs through our own server on loopback.

Each scrape renders anew. Prints one JSON object: seconds of rendering alone and of whole scrapes over HTTP,
the token checked and the body read to its end, as quantiles. Processor time is that of server and client
together: it tells a slow scrape from one that waited for a busy machine.
"""

import argparse
import http.client
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from flopwitness.app.serving.access import Access
from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.exposition import exposition
from flopwitness.app.serving.places import Place
from flopwitness.app.serving.server import Server
from flopwitness.app.serving.snapshot import Bounded, DeviceNow, FinishedWorkload, RunningWorkload, Snapshot
from flopwitness.core.workload import Target
from flopwitness.telemetry.readers.nvml_columns import COLUMNS, OPTIONAL_COLUMNS

FLOOR_SECONDS = 0.1
"""What a scrape may take."""

CHANNELS = tuple(column.channel for name, column in COLUMNS.items() if name not in OPTIONAL_COLUMNS)
"""What NVML with GPM offers on an H200."""

GPUS_PER_WORKLOAD = 8
START_NS = 1_770_091_506_000_000_000
FLOP = MappingProxyType({target: Bounded(1.1e20, 2.2e20, 3.3e20, "fused") for target in Target})


def snapshot(n_gpus: int) -> Snapshot:
    """Return that many busy GPUs, with a running workload on every eight and two hundred finished ones."""
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 1, (n_gpus, len(CHANNELS)))
    devices = tuple(
        DeviceNow(
            f"GPU-{number:08x}-{rng.integers(2**32):08x}-0000-0000-{number:012x}",
            "H200-SXM",
            f"node-{number // GPUS_PER_WORKLOAD}",
            START_NS,
            dict(zip(CHANNELS, row.tolist(), strict=True)),
            START_NS,
        )
        for number, row in enumerate(values)
    )
    uuids = [device.uuid for device in devices]
    running = tuple(
        RunningWorkload(tuple(uuids[first : first + GPUS_PER_WORKLOAD]), START_NS, START_NS, FLOP)
        for first in range(0, n_gpus, GPUS_PER_WORKLOAD)
    )
    finished = tuple(
        FinishedWorkload(f"session-{number}", "workload", (uuids[0],), 0, 1, FLOP) for number in range(200)
    )
    return Snapshot(START_NS, devices, running, finished, len(finished), FLOP)


def timed(act: Callable[[], object], n_times: int) -> dict[str, dict[str, float]]:
    """Return how long each call took, and the processor time of it, in seconds."""
    wall, processor = [], []
    for _ in range(n_times):
        start, spent = time.perf_counter(), time.process_time()
        act()
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - spent)
    return {"wall": quantiles(wall), "processor": quantiles(processor)}


def scraped(book: LiveBook, n_times: int) -> tuple[dict[str, dict[str, float]], int]:
    """Return how long scrapes took, and the bytes of one; each is of a new snapshot."""
    access = Access.of(None)
    with Server(book, access, Place.of("127.0.0.1:0")) as server:
        connection = http.client.HTTPConnection(server.place.host, server.place.port, timeout=30)
        sizes = []

        def scrape() -> None:
            book.snapshot = replace(book.snapshot, n_samples=book.snapshot.n_samples + 1)
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {access.token}"})
            answer = connection.getresponse()
            sizes.append(len(answer.read()))
            if answer.status != http.client.OK:
                raise SystemExit(f"the server answered {answer.status}")

        scrape()
        return timed(scrape, n_times), sizes[-1]


def quantiles(seconds: list[float]) -> dict[str, float]:
    """Return median, 99th percentile and maximum, in seconds."""
    p50, p99 = np.quantile(seconds, [0.5, 0.99]).tolist()
    return {"p50": round(p50, 4), "p99": round(p99, 4), "maximum": round(max(seconds), 4)}


def main() -> int:
    """Measure; the exit status is 1 where the median scrape takes longer than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=1000)
    parser.add_argument("--scrapes", type=int, default=200)
    options = parser.parse_args()
    book = LiveBook()
    book.snapshot = snapshot(options.gpus)
    rendering = timed(lambda: exposition(book.snapshot), options.scrapes)
    scrapes, n_bytes = scraped(book, options.scrapes)
    found = {
        "gpus": options.gpus,
        "channels": len(CHANNELS),
        "samples": sum(line[0] != "#" for line in exposition(book.snapshot).decode().splitlines()),
        "bytes": n_bytes,
        "render_seconds": rendering,
        "scrape_seconds": scrapes,
        "floor_seconds": FLOOR_SECONDS,
    }
    sys.stdout.write(json.dumps(found) + "\n")
    return int(scrapes["wall"]["p50"] > FLOOR_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
