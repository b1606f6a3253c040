"""Rows of all devices to one Trace a device; what had to be put in order is counted."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace

STOPPED_AFTER_STEPS = 5.0
"""A device is reported when its samples end this many median steps before the last of all devices."""


def build_traces(
    devices: Mapping[int, Device],
    index: NDArray[np.int64],
    *,
    time_ns: NDArray[np.int64],
    channels: Mapping[str, NDArray[np.float64]],
) -> tuple[tuple[Trace, ...], tuple[Finding, ...]]:
    """Sort rows into one Trace a device.

    Parameters
    ----------
    devices : mapping of int to Device
        The device behind each number in ``index``; gives the order of the traces.
    index : ndarray of shape (n_samples,), int64
        Whose row it is.
    time_ns : ndarray of shape (n_samples,), int64
        When, in any order.
    channels : mapping of str to ndarray of shape (n_samples,), float64
        The columns.

    Returns
    -------
    traces : tuple of Trace
        In time order; of samples with one stamp the first is kept.
    findings : tuple of Finding
        ``unsorted``, ``duplicate-times``, ``uneven-devices``, ``starts-late``, ``stops-early``.
    """
    traces: list[Trace] = []
    findings: list[Finding] = []
    for number, device in devices.items():
        rows = np.flatnonzero(index == number)
        rows, disorder = _in_order(rows, time_ns, device)
        rows, repeats = _without_repeats(rows, time_ns, channels, device=device)
        traces.append(_trace(device, rows, time_ns, channels))
        findings += [*disorder, *repeats]
    return tuple(traces), (*findings, *compared(traces))


def median_step_seconds(traces: Sequence[Trace]) -> float | None:
    """Return the middle of all steps between samples, rounded to the millisecond; None without a step."""
    steps = np.concatenate([np.diff(trace.time_ns) for trace in traces])
    return round(float(np.median(steps)) / NANOSECONDS_PER_SECOND, 3) if len(steps) else None


def _in_order(
    rows: NDArray[np.int64], time_ns: NDArray[np.int64], device: Device
) -> tuple[NDArray[np.int64], list[Finding]]:
    n_backward = int((np.diff(time_ns[rows]) < 0).sum())
    if not n_backward:
        return rows, []
    message = f"time runs back {n_backward} times in {len(rows)} rows of {device.uuid}; rows were sorted"
    return rows[np.argsort(time_ns[rows], kind="stable")], [Finding("unsorted", message, subject=device.uuid)]


def _without_repeats(
    rows: NDArray[np.int64],
    time_ns: NDArray[np.int64],
    channels: Mapping[str, NDArray[np.float64]],
    *,
    device: Device,
) -> tuple[NDArray[np.int64], list[Finding]]:
    is_repeat = np.concatenate([[False], np.diff(time_ns[rows]) == 0])
    repeats = np.flatnonzero(is_repeat)
    if not len(repeats):
        return rows, []
    firsts = np.maximum.accumulate(np.where(is_repeat, 0, np.arange(len(rows))))[repeats]
    differs = np.zeros(len(repeats), dtype=np.bool_)
    for column in channels.values():
        kept, dropped = column[rows[firsts]], column[rows[repeats]]
        differs |= (kept != dropped) & ~(np.isnan(kept) & np.isnan(dropped))
    message = (
        f"{len(repeats)} rows of {device.uuid} repeat a time stamp, {int(differs.sum())} of them"
        " with other values; the first row of each stamp was kept"
    )
    when_ns = int(time_ns[rows[repeats[0]]])
    return rows[~is_repeat], [
        Finding("duplicate-times", message, subject=device.uuid, start_ns=when_ns, stop_ns=when_ns)
    ]


def _trace(
    device: Device,
    rows: NDArray[np.int64],
    time_ns: NDArray[np.int64],
    channels: Mapping[str, NDArray[np.float64]],
) -> Trace:
    time = time_ns[rows]
    columns = {name: column[rows] for name, column in channels.items()}
    for array in (time, *columns.values()):
        array.flags.writeable = False  # ours alone: lets the Trace share instead of copying
    return Trace(device, time, columns)


def compared(traces: Sequence[Trace]) -> list[Finding]:
    """Report devices that were not sampled alike."""
    findings: list[Finding] = []
    counts = {trace.device.uuid: len(trace) for trace in traces}
    if len(set(counts.values())) > 1:
        is_cut_round = max(counts.values()) - min(counts.values()) <= 1
        listed = ", ".join(f"{uuid} has {count}" for uuid, count in counts.items())
        severity = Severity.NOTE if is_cut_round else Severity.WARNING
        findings.append(Finding("uneven-devices", f"devices differ in samples: {listed}", severity))
    step_seconds = median_step_seconds(traces)
    if step_seconds is None:
        return findings
    first_ns = min(int(trace.time_ns[0]) for trace in traces)
    last_ns = max(int(trace.time_ns[-1]) for trace in traces)
    slack_ns = STOPPED_AFTER_STEPS * step_seconds * NANOSECONDS_PER_SECOND
    for trace in traces:
        findings += _edges(trace, first_ns, last_ns, slack_ns=slack_ns)
    return findings


def _edges(trace: Trace, first_ns: int, last_ns: int, *, slack_ns: float) -> list[Finding]:
    uuid = trace.device.uuid
    late_ns = int(trace.time_ns[0]) - first_ns
    early_ns = last_ns - int(trace.time_ns[-1])
    findings: list[Finding] = []
    if late_ns > slack_ns:
        message = (
            f"{uuid} has its first sample {late_ns / NANOSECONDS_PER_SECOND:.3f} s after the first of all"
        )
        findings.append(
            Finding("starts-late", message, subject=uuid, start_ns=first_ns, stop_ns=first_ns + late_ns)
        )
    if early_ns > slack_ns:
        message = (
            f"{uuid} has its last sample {early_ns / NANOSECONDS_PER_SECOND:.3f} s before the last of all"
        )
        findings.append(
            Finding("stops-early", message, subject=uuid, start_ns=last_ns - early_ns, stop_ns=last_ns)
        )
    return findings
