"""What a cumulative counter can do: grow no faster than its device, begin anew, dip, stand, run over.

Knows arrays of instants and values, no file and no device. Sources are beside each constant.
"""

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from flopwitness.physics.chip import Chip

REFRESH_SECONDS = 1.0
"""A counter may show at once what it gathered for this long; NVML refreshes energy every 0.02 to 0.1 s."""

SMALLEST_WINDOW_SECONDS = 0.1
"""Energy counters step every 10 to 100 ms (github.com/gpuopenanalytics/pynvml/pull/18)."""

EXCESS_RATIO = 1.5
"""A board may exceed its sheet: 907 W was read on a 700 W board. Beyond this ratio a reading is wrong."""

MOST_WATTS = 10_000.0
"""No GPU draws more: the largest boards are near 1,400 W, superchips with their CPU near 2,700 W (NVIDIA)."""

MOST_PER_SECOND = {"nvlink": 4e12, "pcie": 3e11}
"""Bytes a second and direction beyond any link: NVLink 6 has 1.8 TB/s, PCIe 7.0 with 16 lanes 242 GB/s."""

MOST_CYCLES_PER_SECOND = 1e13
"""Clocks below 10 GHz, fewer than 1,000 SMs, should a counter add them up."""

LONGEST_LIFE_SECONDS = 40 * 365.25 * 86_400
"""No counter has run for longer."""

GLITCH_SAMPLES = 5
"""A dip or a jump that is over after so many samples is a fault of reading; a longer one stays."""

UNDERFLOW_BITS = (32, 63, 64)
UNDERFLOW_SCALES = (1.0, 1e3, 1e6, 1e9)
"""An unsigned difference below zero lands just under a power of two, in base units or thousandths of them."""

UNDERFLOW_RELATIVE = 2.0**-16

STANDSTILL_SECONDS = 10.0
"""A counter beside other signals that move is refreshed far more often than this."""

STANDSTILL_ALONE_SECONDS = 45.0
"""Where nothing else moves, the source may repeat itself: dcgm-exporter collects every 30 s by default."""

LEAST_WATTS = 20.0
"""Below this a counter with a coarse unit may stand for long; no board of the table idles below 50 W."""


class Faults(NamedTuple):
    """What is wrong with the values of a counter, each of shape (n_samples,), bool.

    ``is_glitch`` and ``is_underflow`` are no readings of the counter. ``is_reset`` marks the first value of a
    new life, ``is_setback`` one that fell and is yet too high for a counter that began anew.
    """

    is_glitch: NDArray[np.bool_]
    is_underflow: NDArray[np.bool_]
    is_reset: NDArray[np.bool_]
    is_setback: NDArray[np.bool_]


def most_per_second(channel: str, chip: Chip | None = None) -> float:
    """Return the most that a counter of this channel can grow by in a second, in its unit.

    Examples
    --------
    >>> most_per_second("energy_joules_total"), most_per_second("sm_cycles_total")
    (10000.0, 10000000000000.0)
    """
    if channel.endswith("_joules_total"):
        return MOST_WATTS if chip is None else chip.power_limit_watts * EXCESS_RATIO
    link = channel.partition("_")[0]
    if link == "nvlink" and chip is not None and chip.nvlink_bytes_per_second > 0:
        return chip.nvlink_bytes_per_second * EXCESS_RATIO
    return MOST_PER_SECOND.get(link, MOST_CYCLES_PER_SECOND)


def difference(before: float, after: float, *, counter_range: float | None = None) -> float:
    """Return how far a counter moved that runs over at a known range; NaN where it fell and nobody knows why.

    Parameters
    ----------
    before, after : float
        Two readings of one life of the counter.
    counter_range : float or None
        Where it starts again from 0, in the same unit; None where the source does not say.

    Examples
    --------
    >>> difference(262143000000, 500, counter_range=262143328850)
    329350.0
    >>> difference(262143000000, 500), difference(1.0, 3.0)
    (nan, 2.0)
    """
    if after >= before:
        return float(after - before)
    if counter_range is None or not before <= counter_range:
        return float("nan")
    return float(counter_range - before + after)


def is_underflow(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which values are an unsigned number that ran below zero.

    Examples
    --------
    >>> is_underflow(np.array([18446744073447456768.0, 4294967295.0, 5000.0])).tolist()
    [True, True, False]
    """
    found = np.zeros(len(values), dtype=np.bool_)
    for scale in UNDERFLOW_SCALES:
        for bits in UNDERFLOW_BITS:
            found |= np.abs(1.0 - values * scale / 2.0**bits) <= UNDERFLOW_RELATIVE
    return found


def counter_faults(seconds: NDArray[np.float64], values: NDArray[np.float64], most: float) -> Faults:
    """Tell glitches of a counter from resets: a dip that recovers is a glitch, a drop that stays is a reset.

    Parameters
    ----------
    seconds : ndarray of shape (n_samples,)
        When each value was read.
    values : ndarray of shape (n_samples,)
        What was read, finite.
    most : float
        The most that the counter can grow by in a second, > 0.

    Notes
    -----
    A dip or jump counts as recovered when, at most ``GLITCH_SAMPLES`` later, the counter goes on from where
    it was, no faster than ``most``. What lies between is a glitch if a fresh counter could not have grown so.
    """
    nothing = np.zeros(len(values), dtype=np.bool_)
    moved = np.diff(values)
    reachable = most * (np.diff(seconds) + REFRESH_SECONDS)
    if not ((moved < 0) | (moved > reachable)).any():
        return Faults(nothing, nothing, nothing, nothing)
    is_glitch = nothing.copy()
    for n_out in range(1, GLITCH_SAMPLES + 1):  # the shortest first: what follows from them is none itself
        kept = np.flatnonzero(~is_glitch)
        if len(kept) < n_out + 2:
            break
        starts = _recovered(seconds[kept], values[kept], most, n_out=n_out)
        is_glitch[kept[starts[:, None] + np.arange(n_out)]] = True
    is_under = values > most * LONGEST_LIFE_SECONDS
    looks_under = is_underflow(values)
    if (looks_under[1:] & (moved > reachable)).any():
        is_under |= looks_under
    kept = np.flatnonzero(~(is_glitch | is_under))
    fell = np.flatnonzero(np.diff(values[kept]) < 0) + 1
    begins = kept[fell]
    since = seconds[begins] - seconds[kept[fell - 1]]
    is_fresh = values[begins] <= most * (since + REFRESH_SECONDS)
    is_reset, is_setback = nothing.copy(), nothing.copy()
    is_reset[begins[is_fresh]], is_setback[begins[~is_fresh]] = True, True
    return Faults(is_glitch & ~is_under, is_under, is_reset, is_setback)


def standing(
    seconds: NDArray[np.float64],
    joules: NDArray[np.float64],
    *,
    watts: NDArray[np.float64],
    is_fresh: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Say where an energy counter stands though power flows, shape (n_samples,).

    Parameters
    ----------
    seconds, joules, watts : ndarray of shape (n_samples,)
        Instants, the counter and power beside it; finite, watts NaN where unknown.
    is_fresh : ndarray of shape (n_samples,), bool
        Whether any other signal moved since the sample before.

    Notes
    -----
    A counter that makes good after a stand what flowed during it is refreshed seldom, not frozen.
    """
    starts = np.flatnonzero(np.concatenate([[True], np.diff(joules) != 0]))
    ends = np.concatenate([starts[1:], [len(joules)]]) - 1
    length = seconds[ends] - seconds[starts]
    fresh = np.add.reduceat(is_fresh, starts) - is_fresh[starts]
    longest = np.where(fresh > 1, STANDSTILL_SECONDS, STANDSTILL_ALONE_SECONDS)
    known = np.isfinite(watts)
    n_known = np.add.reduceat(known, starts)
    mean = np.add.reduceat(np.where(known, watts, 0.0), starts) / np.maximum(n_known, 1)
    after = np.concatenate([joules[starts[1:]] - joules[starts[:-1]], [0.0]])
    is_frozen = (length > longest) & (mean >= LEAST_WATTS) & (after < mean * length / 2)
    return np.repeat(is_frozen, ends - starts + 1)


def _recovered(
    seconds: NDArray[np.float64], values: NDArray[np.float64], most: float, *, n_out: int
) -> NDArray[np.int64]:
    """Return where dips and jumps of ``n_out`` samples begin, after which the counter goes on as before."""
    before, after = values[: -n_out - 1], values[n_out + 1 :]
    since = seconds[n_out + 1 :] - seconds[: -n_out - 1] + REFRESH_SECONDS
    goes_on = (after >= before) & (after - before <= most * since)
    out = sliding_window_view(values[1:-1], n_out)
    is_low = out.max(axis=1) < before
    is_high = out.min(axis=1) > after
    first_step = seconds[1 : len(before) + 1] - seconds[: len(before)] + REFRESH_SECONDS
    last_step = seconds[n_out + 1 :] - seconds[n_out:-1] + REFRESH_SECONDS
    cannot_be_fresh = (out[:, 0] > most * first_step) | (after - out[:, -1] > most * last_step)
    cannot_be_reached = out[:, 0] - before > most * first_step
    return 1 + np.flatnonzero(goes_on & ((is_low & cannot_be_fresh) | (is_high & cannot_be_reached)))
