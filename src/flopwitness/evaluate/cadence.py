"""A recording as a slower sampler would have made it: what an estimator loses with its cadence."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.channels import CANONICAL, Kind
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.recording import Recording
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.detect.lost import ACTIVITY, without_lost_samples

MEANS = frozenset(ACTIVITY) | {name for name in CANONICAL if name.endswith("_bytes_per_second")}
"""Channels whose value is a mean since the sample before.

NVML API reference, GPM metrics, and DCGM's profiling fields: shares of cycles and rates of traffic are
computed from two reads of hardware counters. Every other channel is a reading of its instant, or a counter.
"""


def sampled_every(recording: Recording, *, interval_seconds: float) -> Recording:
    """Return the recording as if its sampler had asked less often.

    Of each device the sample nearest each tick is kept, with its own instant. A reading stays what it was;
    nothing is averaged. A mean since the sample before is the time-weighted mean over the longer step, as the
    driver would have computed it from its counters. A counter that was not read at that very sample, but
    since the last one, is interpolated: the slower sampler would have asked at its own tick.

    A tick with no sample within half an interval has none, so that a gap stays a gap. An answer that was
    lost or blank at a kept sample is blank for the whole longer step; one between two kept samples was never
    asked for and takes nothing away.

    Parameters
    ----------
    recording : Recording
        What was recorded.
    interval_seconds : float
        From tick to tick, > 0; a device's first sample is its first tick. Of a recording that is slower
        than this, every sample is kept.

    Raises
    ------
    InvalidNounError
        When the interval is not above 0.
    """
    if not 0 < interval_seconds < float("inf"):
        raise InvalidNounError(f"an interval must be finite and above 0 s, got {interval_seconds}")
    tick_ns = max(round(interval_seconds * NANOSECONDS_PER_SECOND), 1)
    traces = tuple(_thinned(without_lost_samples(trace), tick_ns) for trace in recording.traces)
    provenance = replace(recording.provenance, interval_seconds=interval_seconds)
    return Recording(recording.name, traces, provenance, recording.findings)


def _thinned(trace: Trace, tick_ns: int) -> Trace:
    if not len(trace):
        return trace
    kept = _nearest_ticks(trace.time_ns, tick_ns)
    columns = {name: _column(trace, name, kept) for name in trace.channels}
    return Trace(trace.device, trace.time_ns[kept], columns)


def _nearest_ticks(time_ns: NDArray[np.int64], tick_ns: int) -> NDArray[np.int64]:
    """Return the positions of the samples nearest each tick, in order."""
    elapsed_ns = time_ns - time_ns[0]
    ticks = (elapsed_ns + tick_ns // 2) // tick_ns
    order = np.lexsort((np.abs(elapsed_ns - ticks * tick_ns), ticks))
    _, first = np.unique(ticks[order], return_index=True)
    kept: NDArray[np.int64] = order[first]
    return kept


def _column(trace: Trace, name: str, kept: NDArray[np.int64]) -> NDArray[np.float64]:
    if name in MEANS:
        return _means(trace, name, kept)
    known = CANONICAL.get(name)
    if known is not None and known.kind is Kind.COUNTER:
        return _counts(trace, name, kept)
    return trace[name][kept]


def _means(trace: Trace, name: str, kept: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean over the known time since the kept sample before; NaN where the kept one is."""
    values, step_of = trace[name], _step_of(trace, kept)
    lengths_ns = np.diff(trace.time_ns, prepend=trace.time_ns[0] - 1).astype(np.float64)
    known_ns = np.where(np.isfinite(values), lengths_ns, 0.0)
    # What follows the last kept sample has a step of its own, which nobody asks for.
    sums = np.bincount(step_of, weights=np.where(np.isfinite(values), values, 0.0) * known_ns)
    covered_ns = np.bincount(step_of, weights=known_ns)
    means = sums[: len(kept)] / np.where(covered_ns > 0, covered_ns, np.nan)[: len(kept)]
    return np.where(np.isfinite(values[kept]), means, np.nan)


def _counts(trace: Trace, name: str, kept: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the counter at the kept samples, interpolated where it was read since the one before."""
    values = trace[name]
    known = np.flatnonzero(np.isfinite(values))
    read, missing = values[known], np.isnan(values[kept])
    if not missing.any() or not len(known) or (np.diff(read) < 0).any():
        return values[kept]  # across a reset there is no line to interpolate on
    was_read = np.bincount(_step_of(trace, kept)[known], minlength=len(kept))[: len(kept)] > 0
    time_ns, read_ns = trace.time_ns[kept] - trace.time_ns[0], trace.time_ns[known] - trace.time_ns[0]
    between = np.interp(time_ns, read_ns, read, right=np.nan)
    return np.where(missing & was_read, between, values[kept])


def _step_of(trace: Trace, kept: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which kept sample ends the longer step that each sample lies in, shape (n_samples,)."""
    return np.searchsorted(kept, np.arange(len(trace)))
