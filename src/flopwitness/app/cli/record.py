"""``flopwitness record``: telemetry of this machine's GPUs to disk, safe against kills."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.config_option import ConfigFile
from flopwitness.app.cli.output import print_findings, talk
from flopwitness.app.recorder import Attended, LiveSampler, live_provenance, new_store, record
from flopwitness.app.ticking import HostClock, Ticker
from flopwitness.app.timeline import Timeline
from flopwitness.core.errors import BadInputError

Output = Annotated[
    Path,
    typer.Option("--output", help="Folder for the recording; made where missing.", show_default=False),
]
Interval = Annotated[float, typer.Option("--interval", help="Seconds between samples.")]
Duration = Annotated[
    float | None, typer.Option("--duration", help="Seconds to record; until a signal where not given.")
]


def run(
    output: Output,
    interval: Interval = 0.1,
    duration: Duration = None,
    config: ConfigFile = None,  # noqa: ARG001  its callback has read it
) -> int:
    """Record the GPUs of this machine; SIGTERM or Ctrl-C ends it, a kill loses two seconds at most."""
    from flopwitness.app.sampling import best_sampler  # noqa: PLC0415  needs a driver

    return recorded(best_sampler(interval_seconds=interval), output, interval=interval, duration=duration)


def recorded(sampler: LiveSampler, output: Path, *, interval: float, duration: float | None) -> int:
    """Record a sampler into a folder until the time is over or a signal comes."""
    clock = stopping_clock()
    try:
        ticker = Ticker(sampler, clock, interval_seconds=interval, duration_seconds=duration)
        attended = Attended(ticker, Timeline(clock), lost=lambda: sampler.lost, say=say)
        store = new_store(output, clock, live_provenance(sampler, interval))
        path = record(attended, store, findings=lambda: (*ticker.findings(), *attended.findings()))
    finally:
        sampler.close()
    if path is None:
        raise BadInputError(str(output), "", expected="an answer from at least one GPU", got="none")
    say(f"recorded {path}")
    print_findings((*ticker.findings(), *attended.findings()))
    return 0


def say(line: str) -> None:
    """Say one line to people, at once: on standard error."""
    talk().print(line, markup=False, soft_wrap=True)


def stopping_clock(signals: Callable[..., object] = signal.signal) -> HostClock:
    """Return a clock that SIGTERM and SIGINT stop."""
    clock = HostClock()
    for number in (signal.SIGTERM, signal.SIGINT):
        signals(number, lambda *_: clock.stop())
    return clock
