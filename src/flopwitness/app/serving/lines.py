"""Lines of a snapshot: open and finished work with bounds, and what a GPU's batch came to."""

from types import MappingProxyType

import numpy as np

from flopwitness.app.daemon import Daemon, Finished
from flopwitness.app.serving.snapshot import Bounded, FinishedWorkload, RunningWorkload
from flopwitness.app.sofar import OpenWork, flop_so_far, shown_estimate
from flopwitness.core.channels import CANONICAL, Kind
from flopwitness.core.errors import FlopWitnessError
from flopwitness.core.estimate import Estimate
from flopwitness.core.trace import Trace


def gauges(piece: Trace) -> dict[str, float]:
    """Return the mean of each gauge over a batch and the last answer of everything else; NaN where none.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> channels = {"power_watts": [80.0, 90.0], "energy_joules_total": [1.0, 2.0]}
    >>> gauges(Trace(Device("GPU-a"), [0, 1], channels))
    {'power_watts': 85.0, 'energy_joules_total': 2.0}
    """
    if not piece.channels:
        return {}
    block = np.stack(list(piece.channels.values()))
    known = np.isfinite(block)
    with np.errstate(invalid="ignore"):
        means = np.where(known, block, 0.0).sum(axis=1) / known.sum(axis=1)
    last = len(piece) - 1 - known[:, ::-1].argmax(axis=1)
    latest = block[np.arange(len(block)), last]
    return {
        name: mean if _is_gauge(name) else newest
        for name, mean, newest in zip(piece.channels, means.tolist(), latest.tolist(), strict=True)
    }


def running_line(works: tuple[OpenWork, ...], daemon: Daemon) -> RunningWorkload:
    """Return open work as it stands."""
    sums = [work.sums for work in works]
    try:
        calibration = daemon.calibration_for(tuple(work.device.chip for work in works))
        flop = flop_so_far(works, calibration)
    except FlopWitnessError:  # no calibration for these chips: no number
        flop = {}
    return RunningWorkload(
        tuple(sorted(work.device.uuid for work in works)),
        min(one.start_ns for one in sums),
        max(one.stop_ns for one in sums),
        MappingProxyType({target: _bounded(one) for target, one in flop.items()}),
    )


def finished_line(finished: Finished, *, job_id: str = "") -> FinishedWorkload:
    """Return a finished workload as a line."""
    witnessed = finished.witnessed
    session = witnessed.session
    shown = {target: shown_estimate(by_name) for target, by_name in witnessed.estimates.items()}
    return FinishedWorkload(
        session.session_id,
        session.name,
        tuple(trace.device.uuid for trace in session.traces),
        session.start_ns,
        session.stop_ns,
        MappingProxyType({target: _bounded(one) for target, one in shown.items() if one}),
        witnessed.opinion.answer.value if witnessed.opinion else "unknown",
        finished.energy_joules,
        tuple(dict.fromkeys(finding.code for finding in witnessed.findings)),
        job_id,
    )


def _is_gauge(name: str) -> bool:
    return name in CANONICAL and CANONICAL[name].kind is Kind.GAUGE


def _bounded(estimate: Estimate) -> Bounded:
    return Bounded(estimate.low_flop, estimate.point_flop, estimate.high_flop, estimate.method)


def summed(first: Bounded, second: Bounded) -> Bounded:
    """Add end to end: sessions share a calibration, so their errors do not average out."""
    return Bounded(
        first.low_flop + second.low_flop,
        first.point_flop + second.point_flop,
        first.high_flop + second.high_flop,
    )
