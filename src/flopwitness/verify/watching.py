"""When a device was watched, and the most that it did outside sessions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.account import DeviceWatch, SessionEvidence
from flopwitness.core.session import Session
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.detect.activity import DEFAULT_RULE
from flopwitness.detect.lost import without_lost_samples
from flopwitness.detect.states import DEFAULT_LEVELS
from flopwitness.estimate.features.activity import MATRIX_PIPES, SUMMARY, VECTOR_PIPES
from flopwitness.estimate.features.counters import counted
from flopwitness.estimate.features.steps import session_steps
from flopwitness.physics.chip import Chip
from flopwitness.physics.chips import UnknownChipError, chip_named
from flopwitness.physics.formats import TENSOR_PIPES
from flopwitness.physics.pipes import summed_flop_per_cycle_per_sm
from flopwitness.verify.spans import Span, joined, length, without


def ceiling_flop_per_second(chip_name: str) -> float:
    """Return what every pipe of a chip does together at its highest clock; infinite for an unknown chip.

    Two-to-one sparsity is left out, as in the bounds of sessions.

    Examples
    --------
    >>> f"{ceiling_flop_per_second('H200-SXM'):.3g}", ceiling_flop_per_second("an abacus")
    ('2.51e+15', inf)
    """
    chip = _chip(chip_name)
    if chip is None:
        return float("inf")
    return chip.n_sm * chip.boost_clock_hertz * summed_flop_per_cycle_per_sm(chip)


def device_watch(trace: Trace, sessions: Iterable[Session]) -> DeviceWatch:
    """Return when a device was watched and what it can have done beside its sessions.

    Parameters
    ----------
    trace : Trace
        All samples of the device in the scope.
    sessions : iterable of Session
        What was found in them, of any devices.

    Notes
    -----
    Samples further apart than a gap of the detector part stretches. Outside sessions every reading is below
    the detector's idle levels; it is counted all the same, each pipe in its widest format. A reading of 0 is
    believed. Where the pipes gave no answer the ceiling counts, at the share of the power limit that the
    board drew: on an H200 3.6e12 FLOP a joule, twice the best that was measured in this project's recordings
    (1.76e12, products in FP8).
    """
    ceiling = ceiling_flop_per_second(trace.device.chip)
    if len(trace) < 2:
        return DeviceWatch(trace.device.uuid, trace.device.chip, (), ceiling)
    is_gap = np.diff(trace.time_ns) > DEFAULT_RULE.max_step_seconds * NANOSECONDS_PER_SECOND
    busy = joined(
        (session.start_ns, session.stop_ns)
        for session in sessions
        if any(own.device.uuid == trace.device.uuid for own in session.traces)
    )
    seconds = np.where(is_gap, 0.0, _seconds_outside(trace.time_ns, busy))
    rate = _most_rate(trace, ceiling)[1:]
    return DeviceWatch(
        trace.device.uuid,
        trace.device.chip,
        _stretches(trace.time_ns, is_gap),
        ceiling,
        float(np.sum(np.multiply(rate, seconds, where=seconds > 0, out=np.zeros_like(rate)))),
    )


def bounded_by_idle_levels(watch: DeviceWatch, sessions: Iterable[SessionEvidence]) -> DeviceWatch:
    """Return a watch with the most that its detector calls idle outside sessions: samples are not at hand.

    A ledger vouches for samples but does not hold them. Samples that the pipes did not answer, and that
    utilisation and power showed idle, may have held more: only the recording can bound those.
    """
    busy = joined((one.start_ns, one.stop_ns) for one in sessions if watch.device in one.devices)
    seconds = length(without(watch.stretches, busy)) / NANOSECONDS_PER_SECOND
    most = seconds * DEFAULT_LEVELS.activity_ratio * watch.ceiling_flop_per_second if seconds else 0.0
    return replace(watch, outside_flop=max(watch.outside_flop, most))


def merged(watches: Iterable[DeviceWatch]) -> tuple[DeviceWatch, ...]:
    """Return one watch a device: stretches joined, what was seen outside sessions added up."""
    by_device: dict[str, DeviceWatch] = {}
    for one in watches:
        first = by_device.get(one.device)
        by_device[one.device] = one if first is None else _merged(first, one)
    return tuple(by_device.values())


def session_joules(session: Session) -> float:
    """Return the energy that the devices of a session drew, idle power included; NaN where nobody saw it.

    By the counters, or the mean power where one of them says nothing.
    """
    total = 0.0
    for trace in session.traces:
        steps = session_steps(session, trace)
        by_counter = counted(steps, "energy_joules_total").total
        if by_counter > 0:
            total += by_counter
        else:
            power = trace.column("power_watts")
            total += steps.integrated((power[1:] + power[:-1]) / 2).total
    return total


def _merged(first: DeviceWatch, second: DeviceWatch) -> DeviceWatch:
    return DeviceWatch(
        first.device,
        first.chip or second.chip,
        joined((*first.stretches, *second.stretches)),
        max(first.ceiling_flop_per_second, second.ceiling_flop_per_second),
        first.outside_flop + second.outside_flop,
    )


def _chip(name: str) -> Chip | None:
    try:
        return chip_named(name)
    except UnknownChipError:
        return None


def _stretches(time_ns: NDArray[np.int64], is_gap: NDArray[np.bool_]) -> tuple[Span, ...]:
    first = np.append(0, np.flatnonzero(is_gap) + 1)
    last = np.append(np.flatnonzero(is_gap), len(time_ns) - 1)
    pairs = zip(time_ns[first].tolist(), time_ns[last].tolist(), strict=True)
    return tuple((start, stop) for start, stop in pairs if stop > start)


def _seconds_outside(time_ns: NDArray[np.int64], busy: Sequence[Span]) -> NDArray[np.float64]:
    """Return how much of each step lies in no session, shape (n_samples - 1,)."""
    elapsed = (time_ns - time_ns[0]).astype(np.float64)
    if not busy:
        whole: NDArray[np.float64] = np.diff(elapsed) / NANOSECONDS_PER_SECOND
        return whole
    edges = (np.array(busy, dtype=np.int64).ravel() - time_ns[0]).astype(np.float64)
    lengths = edges[1::2] - edges[::2]
    covered = np.repeat(np.append(0.0, np.cumsum(lengths)), 2)[1:-1]
    inside = np.diff(np.interp(elapsed, edges, covered))
    outside: NDArray[np.float64] = np.clip(np.diff(elapsed) - inside, 0.0, None) / NANOSECONDS_PER_SECOND
    return outside


def _most_rate(trace: Trace, ceiling: float) -> NDArray[np.float64]:
    """Return the most FLOP per second that each sample allows, shape (n_samples,)."""
    chip = _chip(trace.device.chip)
    rate = np.zeros(len(trace))
    if chip is None:
        return rate + ceiling
    known, unanswered = without_lost_samples(trace), _powered_rate(trace, chip, ceiling)
    matrix = MATRIX_PIPES if any(name in trace for name in MATRIX_PIPES) else SUMMARY
    channels = {name: pipe for name, (pipe, _) in {**matrix, **VECTOR_PIPES}.items() if name in trace}
    if not any(name in trace for name in matrix):
        return unanswered
    for name, pipe in channels.items():
        pipes = TENSOR_PIPES if name in SUMMARY else {pipe}
        widths = [width for (owner, _), width in chip.flop_per_cycle_per_sm.items() if owner in pipes]
        rate += max(widths, default=0) * known[name] * chip.n_sm * chip.boost_clock_hertz
    most: NDArray[np.float64] = np.where(np.isnan(rate), unanswered, rate)
    return most


def _powered_rate(trace: Trace, chip: Chip, ceiling: float) -> NDArray[np.float64]:
    """Return the ceiling at the share of the power limit that was drawn around each sample."""
    watts = trace.column("power_watts")
    drawn = np.maximum(watts, np.append(watts[:1], watts[:-1]))  # NaN beside a blank
    return ceiling * np.clip(np.nan_to_num(drawn / chip.power_limit_watts, nan=1.0), 0.0, 1.0)
