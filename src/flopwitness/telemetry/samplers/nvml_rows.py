"""Readings of one GPU as they came, and the Trace that many of them make at once.

At 10 Hz a processor has forgotten everything between two readings, and each NumPy call costs ten times what
it does in a loop; so a reading only notes what came.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.telemetry.samplers.gpm import GpmMeter
from flopwitness.telemetry.samplers.sampled import possible_trace


class Reading(NamedTuple):
    """What a GPU answered at an instant.

    Attributes
    ----------
    time_ns : int
        When, UTC nanoseconds.
    activity : bytes
        What GPM said, as ``GpmMeter.read`` gives it.
    numbers : list of (int, float)
        The other answers: place of the channel, value in base units.
    """

    time_ns: int
    activity: bytes
    numbers: list[tuple[int, float]]


class Layout:
    """Where each channel of a GPU stands in a row.

    Parameters
    ----------
    channels : tuple of str
        What the GPU gives, in the order of rows.
    gpm : GpmMeter or None
        Reads the activities, those that it was told to ask for.
    """

    def __init__(self, channels: tuple[str, ...], gpm: GpmMeter | None) -> None:
        self.channels = channels
        self.places = {name: place for place, name in enumerate(channels)}
        self._gpm = gpm
        signals = gpm.signals if gpm is not None else ()
        self._activities = [self.places[signal.channel] for signal in signals]

    def trace(self, device: Device, readings: Sequence[Reading]) -> Trace:
        """Return readings as a Trace: NaN where a channel gave no answer; readings of blanks are left out."""
        block = np.full((len(self.channels), len(readings)), np.nan)
        if self._gpm is not None:
            block[self._activities] = self._gpm.decoded([reading.activity for reading in readings]).T
        for number, reading in enumerate(readings):
            for place, value in reading.numbers:
                block[place, number] = value
        time_ns = np.array([reading.time_ns for reading in readings], dtype=np.int64)
        answered = ~np.isnan(block).all(axis=0)
        if not answered.all():
            time_ns, block = time_ns[answered], block[:, answered]
        return possible_trace(device, time_ns, self.channels, block=block)
