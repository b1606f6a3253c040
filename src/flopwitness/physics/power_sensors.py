"""What a reading of board power is: a mean over the last second, or the power of an instant."""

import numpy as np
from numpy.typing import NDArray

from flopwitness.physics.chip import Chip

MEAN_SECONDS = 1.0
INSTANT_ARCHITECTURES = frozenset({"Volta"})
INSTANT_CHIPS = frozenset({"A100-SXM", "A100-PCIe"})


def averaging_seconds(chip: Chip, channel: str) -> float:
    """Return over how long a power reading averages; 0.0 for the power of an instant.

    NVML, ``nvmlDeviceGetPowerUsage``: a mean over one second on Ampere (GA100 left out) and newer, an instant
    elsewhere (github.com/ml-energy/zeus/issues/45). Nothing finer than this can be resolved. That the mean
    weighs its second evenly, and what AMD's average is, are unverified.

    Examples
    --------
    >>> from flopwitness.physics.chips import CHIPS
    >>> [averaging_seconds(CHIPS[name], "power_watts") for name in ("A100-SXM", "H100-SXM")]
    [0.0, 1.0]
    """
    if channel == "power_instant_watts":
        return 0.0
    is_instant = chip.name in INSTANT_CHIPS or chip.architecture in INSTANT_ARCHITECTURES
    return 0.0 if is_instant else MEAN_SECONDS


def reading_watts(
    at_seconds: float, times_seconds: NDArray[np.float64], watts: NDArray[np.float64], *, averaging: float
) -> float:
    """Return what a sensor shows of a load that keeps each of its powers until the next instant.

    Parameters
    ----------
    at_seconds : float
        When it is read.
    times_seconds, watts : ndarray of shape (n_levels,)
        From when on the board draws how much; rising times, the first before all that is averaged.
    averaging : float
        Seconds that the sensor looks back; 0.0 for an instant.

    Examples
    --------
    >>> step = np.array([-9.0, 0.0]), np.array([100.0, 500.0])
    >>> reading_watts(0.5, *step, averaging=0.0), reading_watts(0.5, *step, averaging=1.0)
    (500.0, 300.0)
    """
    if averaging <= 0:
        return float(watts[np.searchsorted(times_seconds, at_seconds, side="right") - 1])
    ends = np.append(times_seconds[1:], np.inf)
    covered = np.minimum(ends, at_seconds) - np.maximum(times_seconds, at_seconds - averaging)
    return float(np.sum(np.clip(covered, 0.0, None) * watts) / averaging)
