"""Signals shifted in time against each other: the lag at which their changes agree best."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace
from flopwitness.detect.lost import without_lost_samples
from flopwitness.estimate.predictors.state import PlainState
from flopwitness.verify.consistency.deviation import Deviation

CODE = "shifted"
REFERENCE = "sm_active_ratio"

BESIDE = (
    "tensor_active_ratio",
    "dram_active_ratio",
    "gr_engine_active_ratio",
    "int_active_ratio",
    "fp32_active_ratio",
    "gpu_util_ratio",
    "power_instant_watts",
    "energy_joules_total",
)
"""What SM activity is compared with on the same device."""

DEVICES = len(BESIDE)
"""Row of the limits for one device's SM activity against another's."""

LONGEST_SECONDS = 12.0
"""Lags are sought this far either way."""

MIN_CORRELATION = 0.35
"""Changes that agree less than this at their best lag say nothing about lags; clean: 0.11 to 1.00."""

MIN_PROMINENCE = 1.25
"""The best lag must agree this much better than any that is not beside it: equal runs at equal distances
agree at many lags."""

BESIDE_SAMPLES = 4

SHARED_RATIO = 0.02
"""What one sends and its partner receives lie this close in one job; clean: 0.002 apart, seldom 0.03."""

MIN_SAMPLES = 100
MIN_METER_SAMPLES = 10
"""A wall meter reads once a second: an edge in ten readings tells its offset to a period."""

MIN_LOADED_SAMPLES = 20
LOADED_RATIO = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class LagLimits(PlainState):
    """Lags of clean recordings, one a channel of ``BESIDE`` and one between devices.

    Attributes
    ----------
    usual_seconds, reach_seconds : ndarray of shape (len(BESIDE) + 1,)
        The middle of the clean lags, and how far from it a lag may lie.
    """

    usual_seconds: NDArray[np.float64]
    reach_seconds: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Refuse limits of other channels."""
        if not self.usual_seconds.shape == self.reach_seconds.shape == (len(BESIDE) + 1,):
            raise ValueError(f"lags of {self.usual_seconds.shape} and {self.reach_seconds.shape} channels")


def pair_lags(trace: Trace) -> NDArray[np.float64]:
    """Return the lag of each channel of ``BESIDE`` behind SM activity, in seconds; NaN where none shows."""
    lags = np.full(len(BESIDE), np.nan)
    if not _has_edges(trace):
        return lags
    clean = without_lost_samples(trace)
    for row, name in enumerate(BESIDE):
        if name in clean:
            values = clean[name]
            lags[row] = lag_seconds(
                clean, clean[REFERENCE], (clean, _rate(clean) if name.endswith("_total") else values)
            )
    return lags


def device_lag(trace: Trace, other: Trace) -> float:
    """Return the lag of another device's SM activity in seconds; NaN where they share no work.

    Devices of one job send what their partners receive. Two jobs of one rhythm agree at some lag by chance.
    """
    if not (_has_edges(trace) and _has_edges(other) and _is_one_job(trace, other)):
        return float("nan")
    one, two = without_lost_samples(trace), without_lost_samples(other)
    return lag_seconds(one, one[REFERENCE], (two, two[REFERENCE]))


def _is_one_job(trace: Trace, other: Trace) -> bool:
    pairs = ((_bytes(trace, "tx"), _bytes(other, "rx")), (_bytes(trace, "rx"), _bytes(other, "tx")))
    return all(min(pair) > 0 and max(pair) <= (1 + SHARED_RATIO) * min(pair) for pair in pairs)


def _bytes(trace: Trace, way: str) -> float:
    rate = trace.column(f"nvlink_{way}_bytes_per_second")[1:]
    return float(np.nansum(rate * np.diff(trace.seconds())))


def _has_edges(trace: Trace) -> bool:
    if len(trace) < MIN_SAMPLES or REFERENCE not in trace:
        return False
    loaded = trace[REFERENCE] > LOADED_RATIO
    return MIN_LOADED_SAMPLES <= int(loaded.sum()) <= len(trace) - MIN_LOADED_SAMPLES


def _rate(trace: Trace) -> NDArray[np.float64]:
    """Return power by the energy counter at each sample; NaN at the first."""
    watts = np.diff(trace["energy_joules_total"]) / np.diff(trace.seconds())
    return np.concatenate([[np.nan], watts])


def lag_seconds(
    trace: Trace,
    values: NDArray[np.float64],
    other: tuple[Trace, NDArray[np.float64]],
    *,
    least_samples: int = MIN_SAMPLES,
) -> float:
    """Return how far other values trail, to a fraction of a sample; NaN where changes do not agree."""
    period = float(np.median(np.diff(trace.seconds())))
    start_ns = max(trace.time_ns[0], other[0].time_ns[0])
    stop_ns = min(trace.time_ns[-1], other[0].time_ns[-1])
    n_ticks = int((stop_ns - start_ns) / 1e9 / period)
    if n_ticks < least_samples:
        return float("nan")
    ticks = (start_ns - trace.time_ns[0]) / 1e9 + period * np.arange(n_ticks)
    changes = []
    for one, column in ((trace, values), other):
        known = np.isfinite(column)
        if int(known.sum()) < least_samples:
            return float("nan")
        seconds = (one.time_ns[known] - trace.time_ns[0]) / 1e9
        changes.append(np.diff(np.interp(ticks, seconds, column[known])))
    return period * _best_lag(changes[0], changes[1], round(LONGEST_SECONDS / period))


class Offset(NamedTuple):
    """How far one clock is ahead of another, and how well that is known: a period of the slower source."""

    seconds: float
    error_seconds: float


def clock_offset(
    trace: Trace, values: NDArray[np.float64], other: tuple[Trace, NDArray[np.float64]]
) -> Offset:
    """Return how far another source's clock is ahead of a device's, from the edges that both saw.

    A meter at the wall and a GPU see the same load; what its stamps are late by is the offset of the clocks
    (github.com/mlcommons/power-dev/issues/262: 0.2 to 0.85 s). NaN where their changes do not agree.

    Parameters
    ----------
    trace, values
        The device and its power, shape (n_samples,).
    other : (Trace, ndarray)
        The meter and its power.
    """
    periods = [float(np.median(np.diff(one.seconds()))) for one in (trace, other[0])]
    if periods[1] > periods[0]:  # edges are compared as the slower source sees them
        lag = -lag_seconds(other[0], other[1], (trace, values), least_samples=MIN_METER_SAMPLES)
    else:
        lag = lag_seconds(trace, values, other, least_samples=MIN_METER_SAMPLES)
    return Offset(lag, max(periods))


def _best_lag(one: NDArray[np.float64], two: NDArray[np.float64], n_longest: int) -> float:
    """Return the lag of ``two`` in samples, from the peak of the cross-correlation and its two neighbours."""
    norm = float(np.sqrt(np.sum(one**2) * np.sum(two**2)))
    if norm == 0.0:
        return float("nan")
    size = 1 << (2 * len(one)).bit_length()
    spectrum = np.fft.rfft(two, size) * np.conj(np.fft.rfft(one, size))
    circular = np.fft.irfft(spectrum, size) / norm
    # Of what is seen, at least half must agree: the ends of one run and the next agree by chance.
    reach = min(n_longest, len(one) // 2)
    around = np.concatenate([circular[-reach:], circular[: reach + 1]])
    best = int(around.argmax())
    elsewhere = np.abs(np.arange(len(around)) - best) > BESIDE_SAMPLES
    rival = float(around[elsewhere].max(initial=0.0))
    if around[best] < max(MIN_CORRELATION, MIN_PROMINENCE * rival):
        return float("nan")
    if not 0 < best < 2 * reach:
        return float(best - reach)
    left, middle, right = around[best - 1 : best + 2].tolist()
    bend = left - 2 * middle + right
    return best - reach + ((left - right) / (2 * bend) if bend else 0.0)


def lag_deviations(traces: tuple[Trace, ...], limits: LagLimits) -> Iterator[Deviation]:
    """Compare the lags of devices, one trace each, with those of clean recordings."""
    for trace in traces:
        for row, lag in enumerate(pair_lags(trace).tolist()):
            yield from _deviation(trace, lag, limits, row=row, words=f"{BESIDE[row]} trails SM activity by")
    for first, other in pairwise(traces):
        words = f"the work of GPU {other.device.uuid} trails its own by"
        yield from _deviation(first, device_lag(first, other), limits, row=DEVICES, words=words)


def _deviation(trace: Trace, lag: float, limits: LagLimits, *, row: int, words: str) -> Iterator[Deviation]:
    if np.isfinite(lag):
        usual, reach = float(limits.usual_seconds[row]), float(limits.reach_seconds[row])
        span = (int(trace.time_ns[0]), int(trace.time_ns[-1]))
        sentence = f"GPU {trace.device.uuid}: {words} {lag:.2f} s, where {usual:.2f} s is usual"
        yield Deviation(CODE, trace.device.uuid, *span, abs(lag - usual), reach, sentence)
