"""A snapshot and curves as JSON values: base units, Unix seconds, null where nobody knows."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.history import PLOTTED, Curves
from flopwitness.app.serving.snapshot import Bounded, DeviceNow, FinishedWorkload, RunningWorkload
from flopwitness.core.finding import Finding
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Target
from flopwitness.physics.chips import UnknownChipError, chip_named

DIGITS = 5
"""Significant digits of a curve: more than a screen can show."""


def snapshot_object(book: LiveBook) -> dict[str, Any]:
    """Return what is known now as JSON values."""
    now = book.snapshot
    return now_object(book) | {
        "finished": [_finished(one) for one in now.finished],
        "findings": [_finding(one) for one in now.findings],
    }


def now_object(book: LiveBook) -> dict[str, Any]:
    """Return the same without the lists that rarely change; ``notes`` tells when they did."""
    now, version = book.snapshot, book.version
    return {
        "version": version,
        "label": book.facts.label,
        "target": book.target.value,
        "is_over": book.is_over,
        "at": seconds(now.at_ns) if now.at_ns else None,
        "first": seconds(first_ns) if (first_ns := book.first_ns()) else None,
        "devices": [_device(one) for one in now.devices],
        "running": [_running(one) for one in now.running],
        "n_finished": now.n_finished,
        "totals": _flop(now.totals),
        "notes": book.notes,
        "n_samples": now.n_samples,
        "n_missed": now.n_missed,
        "ledger": now.ledger
        and {
            "path": now.ledger.path,
            "n_entries": now.ledger.n_entries,
            "head_sha256": now.ledger.head_sha256,
        },
    }


def curves_object(curves: Mapping[str, Curves], channels: tuple[str, ...] = PLOTTED) -> dict[str, Any]:
    """Return curves by UUID and channel: first step, length of a step, mean, least and most of each."""
    rows = [PLOTTED.index(name) for name in channels]
    return {
        uuid: {
            "start": seconds(one.start_ns),
            "step": one.step_ns / NANOSECONDS_PER_SECOND,
            "channels": {
                name: {
                    "mean": plain(one.mean[row]),
                    "low": plain(one.low[row]),
                    "high": plain(one.high[row]),
                }
                for name, row in zip(channels, rows, strict=True)
            },
        }
        for uuid, one in curves.items()
    }


def seconds(time_ns: int) -> float:
    """Return an instant as Unix seconds, to the millisecond.

    Examples
    --------
    >>> seconds(1_770_091_506_123_456_789)
    1770091506.123
    """
    return round(time_ns / 1_000_000) / 1000


def plain(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers in five significant digits; None for NaN.

    Examples
    --------
    >>> plain(np.array([1234567.0, 0.0, np.nan, 0.123456]))
    [1234600.0, 0.0, None, 0.12346]
    """
    return [float(f"{value:.{DIGITS}g}") if isfinite(value) else None for value in values.tolist()]


def _device(one: DeviceNow) -> dict[str, Any]:
    return {
        "uuid": one.uuid,
        "chip": one.chip,
        "host": one.host,
        "time": seconds(one.time_ns),
        "gauges": {name: _known(value) for name, value in one.gauges.items()},
        "running_since": one.running_since_ns and seconds(one.running_since_ns),
        "is_lost": one.is_lost,
        "tops": _tops(one.chip),
    }


def _tops(name: str) -> dict[str, float]:
    """Return the most that each curve can reach; nothing of a chip that nobody knows."""
    try:
        chip = chip_named(name)
    except UnknownChipError:
        return {}
    return {
        "power_watts": chip.power_limit_watts,
        "nvlink_bytes_per_second": chip.nvlink_bytes_per_second,
        "sm_clock_hertz": chip.boost_clock_hertz,
    }


def _running(one: RunningWorkload) -> dict[str, Any]:
    return {
        "uuids": one.uuids,
        "start": seconds(one.start_ns),
        "last": seconds(one.last_ns),
        "flop": _flop(one.flop),
    }


def _finished(one: FinishedWorkload) -> dict[str, Any]:
    return {
        "session_id": one.session_id,
        "name": one.name,
        "uuids": one.uuids,
        "start": seconds(one.start_ns),
        "stop": seconds(one.stop_ns),
        "flop": _flop(one.flop),
        "work_class": one.work_class,
        "energy_joules": _known(one.energy_joules),
        "findings": one.findings,
        "job_id": one.job_id,
    }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "code": one.code,
        "message": one.message,
        "severity": one.severity.value,
        "subject": one.subject,
        "start": None if one.start_ns is None else seconds(one.start_ns),
        "stop": None if one.stop_ns is None else seconds(one.stop_ns),
    }


def _flop(by_target: Mapping[Target, Bounded]) -> dict[str, Any]:
    """Return bounds by target; an end that is infinite is null."""
    return {
        target.value: {
            "low": _known(one.low_flop),
            "point": _known(one.point_flop),
            "high": _known(one.high_flop),
            "method": one.method,
        }
        for target, one in by_target.items()
    }


def _known(value: float) -> float | None:
    return value if isfinite(value) else None
