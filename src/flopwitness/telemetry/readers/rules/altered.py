"""A trace with some of its values taken out; everything else stays as it was read."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace


def without_values(trace: Trace, taken: Mapping[str, NDArray[np.bool_]]) -> Trace:
    """Return a trace with NaN where a channel's values are no measurement; the same one where none is.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> trace = Trace(Device("GPU-a"), [0, 1], {"power_watts": [80.0, 9e9]})
    >>> without_values(trace, {"power_watts": np.array([False, True])})["power_watts"].tolist()
    [80.0, nan]
    """
    changed = {name: np.where(is_out, np.nan, trace[name]) for name, is_out in taken.items() if is_out.any()}
    return Trace(trace.device, trace.time_ns, {**trace.channels, **changed}) if changed else trace


def without_rows(trace: Trace, is_out: NDArray[np.bool_]) -> Trace:
    """Return a trace whose rows stay as instants, without an answer in any channel."""
    return without_values(trace, dict.fromkeys(trace.channels, is_out))
