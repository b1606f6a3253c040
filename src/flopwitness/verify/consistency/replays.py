"""Stretches of samples that occur twice: no two stretches of real work are alike to the last digit."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.deviation import Deviation

CODE = "replayed"
GROUPS = (
    ("dram_active_ratio", "sm_active_ratio", "sm_occupancy_ratio", "int_active_ratio", "tensor_active_ratio"),
    ("power_watts", "power_instant_watts", "pcie_rx_bytes_per_second", "pcie_tx_bytes_per_second"),
)
"""Noisy channels, looked at source by source: a replay may touch one source alone."""

WINDOW = 4
"""Samples in a row that must agree."""

MIN_DISTINCT = 3
"""Distinct values of the group's first channel in a window; less may be idle, or frozen."""

WRITTEN_STEP = 1e-6
IDLE_MEMORY_RATIO = 1e-3
"""Some recorders write six digits: an idle memory then reads a few millionths, and repeats by chance."""

LIMIT = 1.5
"""Windows that occur again; clean: none."""

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""Odd and without pattern: 2^64 over the golden ratio, as D. Knuth proposes for hashing."""


def replay_deviations(traces: Iterable[Trace]) -> Iterator[Deviation]:
    """Find stretches of one device that occur again, on it or on another."""
    every = [trace for trace in traces if len(trace) >= WINDOW]
    for group in GROUPS:
        parts = [_windows(trace, group) for trace in every]
        if not parts:
            continue
        hashes = np.concatenate([part[0] for part in parts])
        distinct, counts = np.unique(hashes, return_counts=True)
        repeated = distinct[counts > 1]
        for trace, (own, first) in zip(every, parts, strict=True):
            again = np.isin(own, repeated)
            if len(own):
                at = first[again] if again.any() else first[:1]
                yield _deviation(trace, int(at[0]), int(at[-1]), n_windows=int(again.sum()))


def _deviation(trace: Trace, first: int, last: int, *, n_windows: int) -> Deviation:
    uuid = trace.device.uuid
    sentence = f"GPU {uuid}: {n_windows} windows of {WINDOW} samples occur twice, to the last digit"
    last = min(last + WINDOW - 1, len(trace) - 1)
    return Deviation(
        CODE, uuid, int(trace.time_ns[first]), int(trace.time_ns[last]), float(n_windows), LIMIT, sentence
    )


def _windows(trace: Trace, group: tuple[str, ...]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return a hash of each window of samples that says something, and where the window begins."""
    names = [name for name in group if name in trace]
    if not names:
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    mixed = np.zeros(len(trace), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for name in names:
            bits = np.ascontiguousarray(trace[name]).view(np.uint64)
            mixed = (mixed ^ bits) * MULTIPLIER
            mixed ^= mixed >> np.uint64(29)
        n_windows = len(trace) - WINDOW + 1
        hashes = np.zeros(n_windows, dtype=np.uint64)
        for offset in range(WINDOW):
            hashes = (hashes + mixed[offset : offset + n_windows]) * MULTIPLIER
    views = np.lib.stride_tricks.sliding_window_view(trace[names[0]], WINDOW)
    ordered = np.sort(views, axis=1)
    n_distinct = 1 + (ordered[:, 1:] > ordered[:, :-1]).sum(axis=1)
    fine = np.abs(views / WRITTEN_STEP - np.round(views / WRITTEN_STEP)).max(axis=1) > 1e-6
    says = fine | (views.max(axis=1) > IDLE_MEMORY_RATIO)
    telling = np.flatnonzero((n_distinct >= MIN_DISTINCT) & says & np.isfinite(views).all(axis=1))
    return hashes[telling], telling
