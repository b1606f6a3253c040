"""Instants of samples that carry none: the user says when the first was taken and how far apart they are."""

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.telemetry.readers.reading import Context


def counted_instants(context: Context, places: NDArray[np.int64], tool: str) -> NDArray[np.int64]:
    """Return the instants of samples by their place in the log.

    Parameters
    ----------
    context : Context
        Holds what the user said.
    places : ndarray of shape (n_rows,), int64
        How many samples of the same device came before.
    tool : str
        What writes no stamps, for the message.

    Raises
    ------
    BadInputError
        When the user did not say when the log starts, or what its period is.
    """
    asked = context.asked
    if asked.start_ns is None:
        expected = f"when the log starts, which {tool} does not write: give --start"
        raise context.refused("", expected=expected, got="none")
    if asked.period_seconds is None:
        expected = f"seconds from sample to sample, which {tool} does not write: give --period"
        raise context.refused("", expected=expected, got="none")
    return asked.start_ns + places * round(asked.period_seconds * NANOSECONDS_PER_SECOND)
