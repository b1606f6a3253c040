"""``flopwitness serve``: a daemon that is looked at in a browser, or scraped; it keeps nothing."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.cli.config_option import ConfigFile
from flopwitness.app.cli.options import CalibrationPath, Chip, CountedAs, Speed, TokenFile
from flopwitness.app.cli.record import say, stopping_clock
from flopwitness.app.composing import calibrations_of, source_of
from flopwitness.app.daemon import Daemon, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.opening import DEFAULT_CHIP
from flopwitness.app.serving.book import Facts, LiveBook
from flopwitness.app.sources import LiveSource, ReplaySource
from flopwitness.app.ticking import HostClock, batched
from flopwitness.core.workload import Target
from flopwitness.detect.activity import ActivityWatch

LISTEN = "127.0.0.1:9464"
"""As ``flopwitness.app.serving.places.DEFAULT_LISTEN``, which a test holds."""

FOREVER_NS = 2**62

Replayed = Annotated[
    Path | None,
    typer.Option("--replay", help="Show a recording instead of this machine.", metavar="RECORDING"),
]
Listen = Annotated[
    str,
    typer.Option(
        "--listen", help="Where to serve; port 0 takes a free one. Beyond loopback it needs --token-file.",
        metavar="HOST:PORT",
    ),
]  # fmt: skip
Interval = Annotated[float, typer.Option("--interval", help="Seconds between samples.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in this machine's browser.")]


def run(
    replay: Replayed = None,
    speed: Speed = 1.0,
    listen: Listen = LISTEN,
    token_file: TokenFile = None,
    interval: Interval = 0.1,
    calibration: CalibrationPath = None,
    target: CountedAs = Target.ALGORITHMIC,
    chip: Chip = DEFAULT_CHIP,
    open_: Open = False,
    config: ConfigFile = None,  # noqa: ARG001  its callback has read it
) -> int:
    """Show GPUs in a live page, and as metrics for Prometheus: this machine's, or those of a recording."""
    from flopwitness.app.serving.attach import serving  # noqa: PLC0415  needs the extra 'serve'

    clock = stopping_clock()
    with source_of(replay, clock, chip=chip, pace=(speed, interval), say=say) as source:
        calibrations = calibrations_of(calibration, source)
        book = LiveBook(target, facts=Facts(label(replay, speed), source))
        outputs = Outputs(lambda _: False, lambda _: None, book.count, None, book.take)
        finder = WorkloadFinder(ActivityWatch)
        daemon = Daemon(finder, calibrations, outputs=outputs, baselines=IdleBaselines())
        with serving(listen, token_file, book) as url:
            _announce(url, opened=open_)
            source.join(None, floor_ns=None)
            daemon.run(batched(source.rounds({})))
            book.close()
            _wait(clock, source)
    return 0


def label(replay: Path | None, speed: float) -> str:
    """Return what is shown, for people.

    Examples
    --------
    >>> label(Path("datasets/h200x2-a"), 60.0), label(None, 1.0)
    ('replay of h200x2-a at 60 x', 'this machine')
    """
    if replay is None:
        return "this machine"
    return f"replay of {replay.name} at {f'{speed:g} x' if speed else 'full speed'}"


def _announce(url: str, *, opened: bool) -> None:
    say(f"open {url}")
    if opened:
        webbrowser.open(url)


def _wait(clock: HostClock, source: LiveSource | ReplaySource) -> None:
    """Go on serving what a replay left, until somebody stops it."""
    if isinstance(source, ReplaySource) and clock.wait_until(clock.monotonic_ns()):
        say("the replay is over; its page stays until Ctrl-C")
        clock.wait_until(FOREVER_NS)
