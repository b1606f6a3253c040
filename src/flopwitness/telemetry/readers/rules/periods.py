"""How often a device was really sampled, and whether that is often enough for who asks.

Report: github.com/mlcommons/training_results_v4.0/issues/4: samples every 2 s where 1 Hz is required.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import Trace

GAP_PERIODS = 3.0
"""A step longer than this many median steps is a gap."""

SLACK_RATIO = 0.1
"""A period this much longer than required passes: schedulers are late by milliseconds."""


@dataclass(frozen=True, slots=True)
class Periods:
    """The steps between the samples of one device, as they are; NaN without a step.

    Attributes
    ----------
    median_seconds, p95_seconds, longest_seconds : float
        Middle, 95th percentile and longest.
    n_steps, n_gaps : int
        How many there are, and how many of them are gaps.
    gap_seconds : float
        Time in gaps.
    """

    median_seconds: float
    p95_seconds: float
    longest_seconds: float
    n_steps: int
    n_gaps: int
    gap_seconds: float


def periods_of(trace: Trace) -> Periods:
    """Measure the periods of a trace.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> found = periods_of(Trace(Device("GPU-a"), [0, 2 * 10**9, 4 * 10**9], {}))
    >>> found.median_seconds, found.n_gaps
    (2.0, 0)
    """
    return periods_among(np.diff(trace.seconds()))


def periods_among(steps: NDArray[np.floating]) -> Periods:
    """Measure the periods of steps between samples, in seconds, shape (n_steps,)."""
    if not len(steps):
        nan = float("nan")
        return Periods(nan, nan, nan, 0, 0, 0.0)
    median = float(np.median(steps))
    gaps = steps[steps > GAP_PERIODS * median]
    p95 = float(np.percentile(steps, 95))
    return Periods(median, p95, float(steps.max()), len(steps), len(gaps), float(gaps.sum()))


def period_findings(trace: Trace, *, required_seconds: float) -> Iterator[Finding]:
    """Yield ``period-too-long`` where a device was sampled less often than required.

    Judged by the middle of the steps and by the 95th percentile: a log that is fast on average and slow in
    every tenth step does not pass.
    """
    span = (int(trace.time_ns[0]), int(trace.time_ns[-1])) if len(trace) else (0, 0)
    yield from step_findings(
        trace.device.uuid, np.diff(trace.seconds()), span, required_seconds=required_seconds
    )


def step_findings(
    uuid: str, steps: NDArray[np.floating], span: tuple[int, int], *, required_seconds: float
) -> Iterator[Finding]:
    """Yield the same from the steps of a device, in seconds, and the stretch that they fill, UTC ns."""
    found = periods_among(steps)
    allowed = required_seconds * (1 + SLACK_RATIO)
    if not found.n_steps or (found.median_seconds <= allowed and found.p95_seconds <= allowed):
        return
    message = (
        f"{uuid} was sampled every {found.median_seconds:.3g} s (median; 95th percentile"
        f" {found.p95_seconds:.3g} s, longest {found.longest_seconds:.3g} s), required are"
        f" {required_seconds:.3g} s"
    )
    yield Finding("period-too-long", message, Severity.WARNING, uuid, *span)
