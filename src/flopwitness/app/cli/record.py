"""``flopwitness record``: telemetry of this machine's GPUs to disk, safe against kills."""

import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Protocol

import typer

from flopwitness.app.cli.output import print_findings, talk
from flopwitness.app.recorder import new_store, record
from flopwitness.app.ticking import HostClock, Ticker
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance
from flopwitness.core.trace import Trace

Output = Annotated[
    Path,
    typer.Option("--output", help="Folder for the recording; made where missing.", show_default=False),
]
Interval = Annotated[float, typer.Option("--interval", help="Seconds between samples.")]
Duration = Annotated[
    float | None, typer.Option("--duration", help="Seconds to record; until a signal where not given.")
]


class LiveSampler(Protocol):
    """What this command asks of a sampler."""

    source: str
    driver: str
    lost: Mapping[str, str]

    def sample(self) -> tuple[Trace, ...]:
        """Return one sample of each device that answered."""
        ...

    def close(self) -> None:
        """Let go of the hardware."""
        ...


def run(output: Output, interval: Interval = 0.1, duration: Duration = None) -> int:
    """Record the GPUs of this machine; SIGTERM or Ctrl-C ends it, a kill loses two seconds at most."""
    from flopwitness.app.sampling import best_sampler  # noqa: PLC0415  needs a driver

    return recorded(best_sampler(interval_seconds=interval), output, interval=interval, duration=duration)


def recorded(sampler: LiveSampler, output: Path, *, interval: float, duration: float | None) -> int:
    """Record a sampler into a folder until the time is over or a signal comes."""
    clock = stopping_clock()
    try:
        ticker = Ticker(sampler, clock, interval_seconds=interval, duration_seconds=duration)
        store = new_store(output, clock, live_provenance(sampler, interval))
        path = record(ticker, store, lost=lambda: sampler.lost)
    finally:
        sampler.close()
    if path is None:
        raise BadInputError(str(output), "", expected="an answer from at least one GPU", got="none")
    talk().print(f"recorded {path}", soft_wrap=True)
    print_findings(ticker.findings())
    return 0


def stopping_clock(signals: Callable[..., object] = signal.signal) -> HostClock:
    """Return a clock that SIGTERM and SIGINT stop."""
    clock = HostClock()
    for number in (signal.SIGTERM, signal.SIGINT):
        signals(number, lambda *_: clock.stop())
    return clock


def live_provenance(sampler: LiveSampler, interval: float) -> Provenance:
    """Return where live samples come from."""
    return Provenance(
        source=sampler.source, driver=sampler.driver, clock="host UTC", interval_seconds=interval
    )
