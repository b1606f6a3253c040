"""Parts that daemons are built of: what is watched, and what it is estimated with."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from flopwitness.app.opening import open_calibration, shipped_calibration
from flopwitness.app.sources import LiveSource, ReplaySource
from flopwitness.app.ticking import HostClock
from flopwitness.estimate.calibration import Calibration


def source_of(
    replay: Path | None,
    clock: HostClock,
    *,
    chip: str,
    pace: tuple[float, float],
    say: Callable[[str], object],
) -> LiveSource | ReplaySource:
    """Return the recording that is named, or the GPUs of this machine.

    Parameters
    ----------
    replay : Path or None
        The recording.
    clock : HostClock
        Tells the time, and when to stop.
    chip : str
        Of a recording that does not name it.
    pace : tuple of float
        Speed of a replay, and seconds between live samples.
    say : callable
        Takes a line for people.

    Raises
    ------
    BadInputError
        When the recording cannot be used, or the machine has no GPU that answers.
    """
    speed, interval_seconds = pace
    if replay:
        return ReplaySource(replay, clock, chip=chip, speed=speed)
    from flopwitness.app.sampling import best_sampler  # noqa: PLC0415  needs a driver

    sampler = best_sampler(interval_seconds=interval_seconds)
    return LiveSource(sampler, clock, interval_seconds=interval_seconds, say=say)


def calibrations_of(
    path: Path | None, source: LiveSource | ReplaySource
) -> Callable[[tuple[str, ...]], Calibration]:
    """Return what gives the calibration for chips: the file named, or the one shipped for them.

    Each chip is tried at once: what cannot be estimated is refused before hours of watching, not after.

    Raises
    ------
    BadInputError
        When the file is none, or none is shipped for a chip.
    """
    if path:
        named = open_calibration(path)
        return lambda _: named
    shipped = cache(shipped_calibration)
    for device in source.devices:
        shipped((device.chip,))
    return shipped
