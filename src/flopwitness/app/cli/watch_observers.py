"""Who looks on while ``flopwitness watch`` works: the terminal, the page, a collector, a scheduler's jobs.

What each needs is imported only where it is asked for.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.live import Live

from flopwitness.app.cli.output import data
from flopwitness.app.cli.record import say
from flopwitness.app.daemon import Daemon, Finished
from flopwitness.app.liveview import LiveView
from flopwitness.app.observing import Observer
from flopwitness.app.sources import LiveSource, ReplaySource
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import Target

if TYPE_CHECKING:
    from flopwitness.app.scheduler_jobs import SchedulerJobs
    from flopwitness.app.serving.book import LiveBook
    from flopwitness.app.serving.snapshot import LedgerNow
    from flopwitness.core.session import Session

Listen = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="HOST:PORT",
        help="Serve the live page and /metrics there; beyond loopback it needs --token-file.",
    ),
]
JobsFolder = Annotated[
    Path | None,
    typer.Option("--jobs", help="Folder in which a scheduler says which job holds which GPU."),
]
Collector = Annotated[
    str | None,
    typer.Option("--otlp", metavar="URL", help="OpenTelemetry collector to send to, by OTLP over HTTP."),
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which observers were asked for.

    Attributes
    ----------
    target : Target
        Which FLOP they show first.
    is_terminal : bool
        Whether there is a terminal to draw on.
    listen, otlp : str or None
        Where to serve; where to send to.
    token_file, ledger : Path or None
        The token; the ledger whose state is shown.
    label : str
        What is watched, for people.
    """

    target: Target
    is_terminal: bool = False
    listen: str | None = None
    token_file: Path | None = None
    otlp: str | None = None
    ledger: Path | None = None
    label: str = ""


class Terminal:
    """Draws the live view; implements ``Observer``.

    Attributes
    ----------
    console : Console
        Prints lines above it.
    """

    def __init__(self, target: Target) -> None:
        self._view = LiveView(target)
        self._screen = Live(self._view.table(), console=data(), auto_refresh=False)
        self._screen.start()
        self.console = self._screen.console

    def take(self, daemon: Daemon) -> None:
        """Draw what is known now."""
        self._view.take(daemon)
        self._screen.update(self._view.table(), refresh=True)

    def count(self, finished: Finished) -> None:
        """Add a finished workload; the next batch shows it."""
        self._view.count(finished)

    def close(self) -> None:
        """Leave the last picture where it is."""
        self._screen.stop()


class Onlookers:
    """Shows the daemon to each observer; one that fails is left out, and said to be: witnessing goes on.

    Parameters
    ----------
    observers : sequence of Observer
        Who looks on.
    console : Console
        Where lines for people go.
    say : callable
        Takes a line for people.
    """

    def __init__(
        self, observers: Sequence[Observer], *, console: Console, say: Callable[[str], object] = say
    ) -> None:
        self._observers = list(observers)
        self.console = console
        self._say = say

    def take(self, daemon: Daemon) -> None:
        """Show everybody the daemon after a batch."""
        self._each(lambda observer: observer.take(daemon))

    def count(self, finished: Finished) -> None:
        """Show everybody a finished workload."""
        self._each(lambda observer: observer.count(finished))

    def close(self) -> None:
        """Let everybody go, the last first."""
        self._observers.reverse()
        self._each(lambda observer: observer.close())

    def _each(self, act: Callable[[Observer], None]) -> None:
        for observer in tuple(self._observers):
            try:
                act(observer)
            except Exception as error:  # noqa: BLE001  an observer's bug must not end the evidence
                self._observers.remove(observer)
                what = f"{type(error).__name__}: {error}"
                self._say(f"{type(observer).__name__} failed and is left out from now on: {what}")


@contextmanager
def onlookers(
    wanted: Wanted, source: LiveSource | ReplaySource, jobs: "SchedulerJobs | None"
) -> Iterator[Onlookers]:
    """Open the observers that were asked for, and close them at the end.

    Raises
    ------
    BadInputError
        When a token file is given and nothing is served, or an address, a token or a URL cannot be used.
    """
    if wanted.token_file is not None and wanted.listen is None:
        raise BadInputError("watch", "", expected="--listen with --token-file", got="--token-file alone")
    with ExitStack() as stack:
        terminal = Terminal(wanted.target) if wanted.is_terminal else None
        if terminal:
            stack.callback(terminal.close)
        book = _book(wanted, source, jobs)
        _serve(wanted, book, stack=stack)
        observers = (jobs, terminal, book, _exporter(wanted, book, jobs))
        group = Onlookers(
            [observer for observer in observers if observer is not None],
            console=terminal.console if terminal else data(),
        )
        stack.callback(group.close)
        yield group


def open_jobs(folder: Path | None, source: LiveSource | ReplaySource) -> "SchedulerJobs | None":
    """Return what follows a scheduler's folder; None where none is named.

    Raises
    ------
    BadInputError
        When the folder is not there.
    """
    if folder is None:
        return None
    from flopwitness.app.scheduler_jobs import SchedulerJobs  # noqa: PLC0415  few nodes have a scheduler
    from flopwitness.telemetry.scheduling.driver_gpus import pci_uuids  # noqa: PLC0415

    numbered = () if isinstance(source, ReplaySource) else pci_uuids() or source.pci_uuids
    return SchedulerJobs(folder, source.devices, pci_uuids=numbered, say=say)


def _book(
    wanted: Wanted, source: LiveSource | ReplaySource, jobs: "SchedulerJobs | None"
) -> "LiveBook | None":
    """Return what the page and the exporter read; None where neither was asked for."""
    if wanted.listen is None and wanted.otlp is None:
        return None
    from flopwitness.app.serving.book import Facts, LiveBook  # noqa: PLC0415

    ledger = _no_ledger
    if wanted.ledger is not None:
        from flopwitness.app.serving.ledgers import ledger_state  # noqa: PLC0415  needs a ledger's packages

        ledger = ledger_state(wanted.ledger)
    job_of = jobs.job_id if jobs else _no_job
    return LiveBook(wanted.target, facts=Facts(wanted.label, source, ledger, job_of))


def _serve(wanted: Wanted, book: "LiveBook | None", *, stack: ExitStack) -> None:
    if wanted.listen is None or book is None:
        return
    from flopwitness.app.serving.attach import serving  # noqa: PLC0415  needs a web server's packages

    say(f"open {stack.enter_context(serving(wanted.listen, wanted.token_file, book))}")


def _exporter(wanted: Wanted, book: "LiveBook | None", jobs: "SchedulerJobs | None") -> Observer | None:
    if wanted.otlp is None or book is None:
        return None
    from flopwitness.app.serving.otlp import OtlpExporter  # noqa: PLC0415  needs OpenTelemetry's SDK

    return OtlpExporter(wanted.otlp, book, job_ids=jobs.job_ids if jobs else lambda _: (), say=say)


def _no_job(_: "Session") -> str:
    return ""


def _no_ledger() -> "LedgerNow | None":
    return None
