"""What a training step looks like from outside: the levels of a session while it works."""

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace

HORIZON_SECONDS = 600.0
"""A signature is that of the last ten minutes of a session: a daemon need not keep the samples of days."""

WORKING_RATIO = 0.7
"""A sample belongs to the work where tensor plus DRAM activity reach this share of its 90th percentile.

Building a model, loading data, rests between two traces and sleeps after a step lie below it. Of 0.5, 0.7 and
0.85, tried on nodes a and b, 0.7 parted workloads best without falling into the noise of single samples.
"""

BUSY_QUANTILE = 0.9

MIN_SAMPLES = 8
"""Working samples a device needs: medians of fewer say little."""

LEVELS = MappingProxyType(
    {
        "power": ("power_instant_watts", 1.0),
        "tensor activity": ("tensor_active_ratio", 0.01),
        "integer matrix activity": ("imma_active_ratio", 0.01),
        "FP64 matrix activity": ("dfma_active_ratio", 0.01),
        "DRAM activity": ("dram_active_ratio", 0.01),
        "FP32 activity": ("fp32_active_ratio", 0.01),
        "FP16 activity": ("fp16_active_ratio", 0.01),
        "integer activity": ("int_active_ratio", 0.01),
        "occupancy": ("sm_occupancy_ratio", 0.01),
        "SM activity": ("sm_active_ratio", 0.01),
        "NVLink traffic": ("nvlink_tx_bytes_per_second", 1e8),
    }
)
"""Name, channel and floor of each level: kept as ``log(value + floor)``, so that noise about zero is small.

Floors: 1 % of activity and 0.1 GB/s are what idle H200s show of noise and of NCCL's own talk.
"""

SPAN_SECONDS = 51.2
"""A rhythm is looked for in the last so many seconds: 512 samples at 10 Hz."""

PERIOD_FLOOR_SECONDS = 0.5
MIN_AUTOCORRELATION = 0.5
"""A rhythm counts where the activity looks like itself this much one period later."""

SIGNALS = (*LEVELS, "step period")
"""What the columns of a signature are."""


def step_signature(traces: Sequence[Trace], start_ns: int, stop_ns: int) -> NDArray[np.float64]:
    """Return the levels of a stretch while it works, mean over its devices.

    Medians over the samples that work, so neither pauses shorter than the detector's nor a slow start move
    them; the share of time that a throttled run works does not enter.

    Parameters
    ----------
    traces : sequence of Trace
        Samples of its devices.
    start_ns, stop_ns : int
        The stretch, UTC nanoseconds; only its last ``HORIZON_SECONDS`` are looked at.

    Returns
    -------
    ndarray of shape (n_signals,), float64
        As ``SIGNALS``, logarithms; NaN where no device has the channel or too few samples.
    """
    first_ns = max(start_ns, stop_ns - round(HORIZON_SECONDS * NANOSECONDS_PER_SECOND))
    rows = np.array([_device_signature(trace.within(first_ns, stop_ns)) for trace in traces])
    known = np.isfinite(rows)
    n_known = known.sum(axis=0)
    totals = np.where(known, rows, 0.0).sum(axis=0)
    return np.where(n_known > 0, totals / np.maximum(n_known, 1), np.nan)


def _device_signature(trace: Trace) -> NDArray[np.float64]:
    activity = np.nan_to_num(trace.column("tensor_active_ratio")) + np.nan_to_num(
        trace.column("dram_active_ratio")
    )
    if not len(trace) or not activity.any():
        return np.full(len(SIGNALS), np.nan)
    working = activity >= WORKING_RATIO * np.quantile(activity, BUSY_QUANTILE)
    levels = [_level(trace.column(channel)[working], floor) for channel, floor in LEVELS.values()]
    return np.array([*levels, _log_period(trace, activity)])


def _level(values: NDArray[np.float64], floor: float) -> float:
    known = values[np.isfinite(values)]
    return float(np.log(max(np.median(known), 0.0) + floor)) if len(known) >= MIN_SAMPLES else float("nan")


def _log_period(trace: Trace, activity: NDArray[np.float64]) -> float:
    """Return the logarithm of the period of the activity; NaN where these samples show none."""
    span_ns = trace.time_ns[-1] - round(SPAN_SECONDS * NANOSECONDS_PER_SECOND)
    recent = activity[int(trace.time_ns.searchsorted(span_ns)) :]
    n_samples = len(recent)
    interval_seconds = (
        float(np.median(np.diff(trace.time_ns))) / NANOSECONDS_PER_SECOND if n_samples > 1 else 0.0
    )
    first = int(np.ceil(PERIOD_FLOOR_SECONDS / interval_seconds)) if interval_seconds else n_samples
    alike = _autocorrelation(recent)[: n_samples // 3]
    if len(alike) <= first + 1:
        return float("nan")
    peaks = np.flatnonzero((alike[1:-1] > alike[:-2]) & (alike[1:-1] >= alike[2:])) + 1
    peaks = peaks[(peaks >= first) & (alike[peaks] >= MIN_AUTOCORRELATION)]
    return float(np.log(peaks[0] * interval_seconds)) if len(peaks) else float("nan")


def _autocorrelation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much values resemble themselves at each lag, -1 to 1; zeros where they never change."""
    centred = values - values.mean()
    spectrum = np.fft.rfft(centred, 2 * len(values))
    products = np.fft.irfft(spectrum * spectrum.conj())[: len(values)]
    if products[0] <= 0:
        return np.zeros(len(values))
    found: NDArray[np.float64] = products / products[0] * len(values) / np.arange(len(values), 0, -1)
    return found
