"""A session in windows of a few seconds: in which proportion its signals stand, and how steady they are.

Only proportions: how many GPUs there are, how busy they are on average and how much memory is held say
little about the kind of work and are easily changed. Traffic between GPUs is left out as well: models that
are served from several GPUs at once exchange as much as models in training.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.detect.lost import without_lost_samples

SIGNALS = (
    "tensor_active_ratio",
    "dram_active_ratio",
    "sm_active_ratio",
    "sm_occupancy_ratio",
    "int_active_ratio",
    "fp32_active_ratio",
)
"""What NVML's GPM, DCGM and its exporter all give on Hopper and newer."""

SM, FP32 = SIGNALS.index("sm_active_ratio"), SIGNALS.index("fp32_active_ratio")

LEVELS = ("int_over_tensor", "dram_over_sm", "int_over_dram", "occupancy_over_sm", "fp32_over_dram")
"""Logarithms of proportions: five of six signals are left when the busy share is taken out."""

RHYTHM = "fp32_over_sm_unsteady"
"""Logarithm of the spread of FP32 over SM activity, over its level: steps of training go through phases.

Over SM activity, so that rests between bursts of work are no phases.
"""

COLUMNS = (*LEVELS, RHYTHM)

WINDOW_SECONDS = 2.0
MIN_SAMPLES = 8
"""Of a window; with fewer, spread and level say nothing."""

SAMPLES_A_WINDOW = 20
"""A slower source has longer windows."""

LEAST_ACTIVE_RATIO = 0.05
"""Mean SM activity below which a window is a rest: what waits shows no kind of work."""

EDGE_SAMPLES = 2
"""Left out where a session begins, and one where it ends: they hold work and rest at once."""

FLOOR_RATIO = 1e-3
"""Added to every share: GPM and DCGM give tenths of a per cent."""

FLOOR_SPREAD = 3e-3
MAD_TO_DEVIATION = 1.4826
"""Standard deviation of a normal distribution over its median absolute deviation."""


class Windows(NamedTuple):
    """What was seen of a session.

    Attributes
    ----------
    values : ndarray of shape (n_windows, 6)
        One column each of ``COLUMNS``, finite.
    step_seconds : float
        Time between two samples, the median; NaN where there are no windows.
    missing : tuple of str
        Signals that no device of the session has.
    """

    values: NDArray[np.float64]
    step_seconds: float
    missing: tuple[str, ...]


def windows_of(session: Session) -> Windows:
    """Cut a session into windows, device by device.

    Windows at rest are left out, and those in which a signal was hardly seen; so are sessions of a few
    samples.
    """
    traces = [without_lost_samples(trace) for trace in session.traces]
    missing = tuple(name for name in SIGNALS if all(name not in trace for trace in traces))
    if missing:
        return Windows(np.empty((0, len(COLUMNS))), float("nan"), missing)
    steps = [np.diff(trace.time_ns) / NANOSECONDS_PER_SECOND for trace in traces if len(trace) > 1]
    step_seconds = float(np.median(np.concatenate(steps))) if steps else float("nan")
    parts = [_of_device(session, trace, step_seconds) for trace in traces]
    values = np.concatenate(parts) if parts else np.empty((0, len(COLUMNS)))
    return Windows(values, step_seconds, ())


def window_values(trace: Trace) -> tuple[NDArray[np.float64], float]:
    """Return the columns of a trace taken as one window, and the time between its samples.

    No row at rest, or where a signal is missing or was hardly seen.
    """
    clean = without_lost_samples(trace)
    step_seconds = float(np.median(np.diff(trace.time_ns))) / NANOSECONDS_PER_SECOND
    if any(name not in clean for name in SIGNALS):
        return np.empty((0, len(COLUMNS))), step_seconds
    shares = np.stack([clean[name] for name in SIGNALS])
    return _columns(shares, np.array([0, len(clean)])), step_seconds


def _of_device(session: Session, trace: Trace, step_seconds: float) -> NDArray[np.float64]:
    inside = (trace.time_ns > session.start_ns) & (trace.time_ns <= session.stop_ns)
    if inside.sum() > MIN_SAMPLES + EDGE_SAMPLES + 1:
        places = np.flatnonzero(inside)
        inside[places[:EDGE_SAMPLES]] = False
        inside[places[-1]] = False
    if inside.sum() < MIN_SAMPLES or any(name not in trace for name in SIGNALS):
        return np.empty((0, len(COLUMNS)))
    time_seconds = (trace.time_ns[inside] - session.start_ns) / NANOSECONDS_PER_SECOND
    shares = np.stack([trace[name][inside] for name in SIGNALS])
    window_seconds = max(WINDOW_SECONDS, SAMPLES_A_WINDOW * step_seconds)
    n_windows = max(1, round((time_seconds[-1] - time_seconds[0] + step_seconds) / window_seconds))
    turns = time_seconds[0] + (time_seconds[-1] - time_seconds[0]) * np.arange(1, n_windows) / n_windows
    cuts = np.concatenate([[0], np.searchsorted(time_seconds, turns), [len(time_seconds)]])
    return _columns(shares, np.unique(cuts))


def _columns(shares: NDArray[np.float64], cuts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the columns of windows between cuts."""
    seen = np.isfinite(shares)
    n_seen = np.add.reduceat(seen, cuts[:-1], axis=1)
    sums = np.add.reduceat(np.where(seen, shares, 0.0), cuts[:-1], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        tensor, dram, sm, occupancy, integer, fp32 = np.log(sums / n_seen + FLOOR_RATIO)
    proportion = (shares[FP32] + FLOOR_RATIO) / (shares[SM] + FLOOR_RATIO)
    proportion[shares[SM] < LEAST_ACTIVE_RATIO] = np.nan  # at rest it is floor over floor
    unsteady = _unsteady(proportion, cuts)
    columns = (integer - tensor, dram - sm, integer - dram, occupancy - sm, fp32 - dram, unsteady)
    table = np.column_stack(columns)
    works = np.exp(sm) >= LEAST_ACTIVE_RATIO
    kept = np.isfinite(table).all(axis=1) & (n_seen.min(axis=0) >= MIN_SAMPLES) & works
    return np.ascontiguousarray(table[kept])


def _unsteady(proportions: NDArray[np.float64], cuts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the logarithm of the spread over the level in each window, both robust."""
    sizes = np.diff(cuts)
    # One row a window, blanks at its end: medians of all rows are taken at once.
    padded = np.full((len(sizes), int(sizes.max())), np.nan)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    padded[rows, np.arange(len(rows)) - np.repeat(cuts[:-1], sizes)] = proportions
    blank = ~np.isfinite(padded).any(axis=1)
    padded[blank] = 1.0
    level = np.nanmedian(padded, axis=1, keepdims=True)
    spread = np.nanmedian(np.abs(padded - level), axis=1)
    unsteady = np.log(MAD_TO_DEVIATION * spread / level[:, 0] + FLOOR_SPREAD)
    return np.where(blank, np.nan, unsteady)
