"""A daemon over made or recorded samples with a book beside it, for tests of what is served."""

from collections.abc import Iterable
from pathlib import Path

from app.live import FakeClock
from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.daemon import Daemon, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.opening import open_recording, shipped_calibration
from flopwitness.app.replay import ReplaySampler, replayed
from flopwitness.app.serving.access import Access
from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.places import Place
from flopwitness.app.ticking import Round, batched
from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import ActivityWatch

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
CALIBRATION = shipped_calibration(["H200-SXM"])
ACCESS = Access("a-token-of-some-length-1234")
PLACE = Place.of("127.0.0.1:80")
BEARER = {"authorization": f"Bearer {ACCESS.token}"}
START_NS = 1_800_000_000_000_000_000


def daemon_beside(book: LiveBook) -> Daemon:
    """Return a daemon that shows the book what it does and keeps nothing."""
    outputs = Outputs(lambda _: False, lambda _: None, book.count, None, book.take)
    finder = WorkloadFinder(ActivityWatch)
    return Daemon(finder, lambda _: CALIBRATION, outputs=outputs, baselines=IdleBaselines())


def replayed_batches(name: str) -> list[Round]:
    """Return what a live daemon would have been given."""
    sampler = ReplaySampler(open_recording(DATASETS / name))
    return list(batched(replayed(sampler, FakeClock(), speed=0)))


def watched(batches: Iterable[Round], *, book: LiveBook | None = None) -> tuple[LiveBook, Daemon]:
    """Return a book that saw batches, with its daemon, nothing closed."""
    book = book or LiveBook()
    daemon = daemon_beside(book)
    for batch in batches:
        daemon._take(batch)
        book.take(daemon)
    return book, daemon


def piece(first: int, n_samples: int = 10, *, uuid: str = "GPU-a", **channels: list[float]) -> Trace:
    """Return samples at 10 Hz from a tick on; power is 80 W where nothing else is said."""
    columns = channels or {"power_watts": [80.0] * n_samples}
    n_samples = len(next(iter(columns.values())))
    time_ns = [START_NS + (first + at) * 100_000_000 for at in range(n_samples)]
    return Trace(Device(uuid, "H200-SXM"), time_ns, columns)
