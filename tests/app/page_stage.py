"""A browser, a server and a daemon that goes on when told to, for tests of the live page."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from app.serving_book import ACCESS, daemon_beside, replayed_batches
from flopwitness.app.serving.book import Facts, LiveBook
from flopwitness.app.serving.events import Pace
from flopwitness.app.serving.places import Place
from flopwitness.app.serving.server import Server
from flopwitness.app.serving.snapshot import RunningWorkload
from flopwitness.app.ticking import Round

ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-dev-shm-usage", "--disable-gpu"]
N_RUNNING = 50
"""After so many batches the first workload runs."""

SIZES = {"phone": (390, 844), "desktop": (1440, 900)}
PACE = Pace(look_seconds=0.05)


@dataclass
class Stage:
    """A daemon that goes on when told to, and the server beside it."""

    book: LiveBook = field(default_factory=lambda: LiveBook(facts=Facts("a replay")))
    batches: Iterator[Round] = field(default_factory=lambda: iter(replayed_batches("h200x2-a")))

    def __post_init__(self) -> None:
        """Open the server."""
        self.daemon = daemon_beside(self.book)
        self.server = Server(self.book, ACCESS, Place.of("127.0.0.1:0"), pace=PACE)
        self.url = f"{self.server.place.url}#token={ACCESS.token}"

    def go_on(self, n_batches: int) -> None:
        """Let the daemon take some batches."""
        for _ in range(n_batches):
            self.daemon._take(next(self.batches))
            self.book.take(self.daemon)

    def until_finished(self) -> None:
        """Let the daemon go on until a workload ends."""
        n_finished = self.book.snapshot.n_finished
        while self.book.snapshot.n_finished == n_finished:
            self.go_on(1)


class Watch:
    """Opens pages, and notes what a page must never do."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self.faults: list[str] = []

    def page(self, url: str, *, size: str = "desktop", **options: object) -> Any:
        """Return the page, opened."""
        width, height = SIZES[size]
        context = self._browser.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        page.set_default_timeout(15_000)
        own = url.partition("/#")[0].partition("#")[0].rstrip("/")
        page.on("console", lambda said: said.type == "error" and self.faults.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on(
            "request",
            lambda asked: asked.url.startswith(own) or self.faults.append(f"off-origin: {asked.url}"),
        )
        page.goto(url)
        return page


def has_worked(running: RunningWorkload) -> bool:
    """Say whether open work has spent any FLOP yet."""
    return any(flop.point_flop > 0 for flop in running.flop.values())


def text(page: Any, selector: str) -> str:
    """Return what stands at a place."""
    return " ".join(page.locator(selector).inner_text().split())
