"""A whole node behind one meter: which part of its power its GPUs can have drawn.

Two routes, and what both allow: the whole less the host, and the rise over idle. GPUs never draw more than
their limits. The host (processors, memory, switches, network, fans) is told in shares of the GPUs' limits.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.detect.states import NODE_POWER
from flopwitness.estimate.features.steps import Steps, session_steps
from flopwitness.estimate.sparse import made
from flopwitness.estimate.sparse.boards import SAMPLING_ERRORS, Span, ceiling_flop_per_second
from flopwitness.estimate.sparse.envelopes import energy_band
from flopwitness.estimate.sparse.made import Answer, assumed, unavailable
from flopwitness.estimate.sparse.priors import (
    EVERY_FORMAT,
    IDLE_SHARE,
    NumberFormat,
    share_range,
    sheet_flop_per_joule,
)
from flopwitness.physics.chip import Chip
from flopwitness.physics.chips import chip_named

SUPPLY_RATIO = (0.9, 1.0)
"""What a supply passes on: 0.90 is about the least of 80 PLUS Platinum, 1.0 a meter behind it."""

HOST_SHARE = (0.15, 0.6)
"""Power of the host under load over the GPUs' limits. A DGX H100 (10.2 kW rated, 8 x 700 W) that draws 76 %
of its rating in training (arXiv:2506.14551) leaves at least 0.38; 0.82 is its rating less its GPUs, which
nobody reaches.
"""

IDLE_HOST_SHARE = 0.45
"""The most that a host draws beside idle GPUs, likewise: what parts an idle node from a working one."""

RISE_SHARE = (0.7, 0.97)
"""The GPUs' part of a node's rise over idle, behind the supply: an assumption; fans rise too."""

EXCESS_RATIO = 1.03
"""Mean board power over its limit, at most: 721 of 700 W on H200s over whole runs."""

WORKING_SHARE = 0.18
"""Rise over idle, over the GPUs' limits, from which on a node works: a board's idle level less its idle."""

HOT_IDLE_SHARE = 0.06
"""Boards idle in two states, 0.11 and 0.17 of the limit; an idle node may have been in the upper one."""


def idle_watts_of_node(trace: Trace, chip: Chip, n_gpus: int) -> float:
    """Return the idle power of a node as its recording shows it; NaN where it was never seen idle."""
    watts = trace.column(NODE_POWER)
    known = watts[np.isfinite(watts)]
    if not len(known):
        return float("nan")
    least = (HOST_SHARE[0] + IDLE_SHARE[0]) * n_gpus * chip.power_limit_watts
    lowest = max(float(known.min()), least)  # a dip of the meter is no idle node
    return lowest if lowest <= _most_idle_watts(chip, n_gpus) else float("nan")


def working_watts_of_node(traces: Iterable[Trace], chip: Chip, n_gpus: int) -> float:
    """Return the power above which a node works; infinite where no trace is of a node."""
    limits = n_gpus * chip.power_limit_watts
    levels = []
    for trace in traces:
        if NODE_POWER in trace:
            idle = idle_watts_of_node(trace, chip, n_gpus)
            base = idle if np.isfinite(idle) else _most_idle_watts(chip, n_gpus) - WORKING_SHARE * limits
            levels.append(base + WORKING_SHARE * limits)
    return min(levels, default=float("inf"))


def gpu_net_joules(steps: Steps, chip: Chip, n_gpus: int, *, idle_watts: float) -> Span:
    """Return the energy above idle of all GPUs of a node over a stretch.

    Parameters
    ----------
    steps : Steps
        Samples of the node.
    chip : Chip
        What its GPUs are.
    n_gpus : int
        How many, >= 1.
    idle_watts : float
        Of the whole node; NaN where it was never seen idle.
    """
    node = steps.trace.column(NODE_POWER)
    watts: NDArray[np.float64] = (node[1:] + node[:-1]) / 2
    total = steps.integrated(watts)
    if not np.isfinite(total.total):
        return Span(*[float("nan")] * 3)
    seconds = float(steps.weight_seconds.sum()) + steps.uncovered_seconds
    seen = max(seconds - total.unobserved_seconds, 0.0)
    mean = steps.summed(np.where(steps.is_gap, 0.0, np.nan_to_num(watts))) / max(seen, 1e-9)
    known = node[np.isfinite(node)]
    blur = SAMPLING_ERRORS * float(known.std()) / float(np.sqrt(len(known)))
    low, high = _net_watts(max(mean - blur, 0.0), mean + blur, chip, n_gpus, idle_watts=idle_watts)
    most = n_gpus * chip.power_limit_watts * (EXCESS_RATIO - IDLE_SHARE[0])
    high_joules = high * seen + most * total.unobserved_seconds
    return Span(low * seen, min((low + high) / 2 * seconds, high_joules), high_joules)


def node_envelope(
    session: Session,
    n_gpus: int,
    idle_watts: float,
    *,
    formats: Iterable[NumberFormat] = EVERY_FORMAT,
) -> Answer:
    """Return what a node's power says of its GPUs' FLOP under the assumption of ordinary training.

    Parameters
    ----------
    session : Session
        One trace, of the node, whose device names the chip of its GPUs.
    n_gpus : int
        How many GPUs the node holds, >= 1.
    idle_watts : float
        Of the whole node; NaN where it was never seen idle.
    formats : iterable of NumberFormat
        Formats that the work may be in.
    """
    trace = session.traces[0]
    if NODE_POWER not in trace:
        return unavailable(made.NODE, f"{NODE_POWER} is not known")
    chip = chip_named(trace.device.chip)
    net = gpu_net_joules(session_steps(session, trace), chip, n_gpus, idle_watts=idle_watts)
    if not net.is_known:
        return unavailable(made.NODE, f"{NODE_POWER} was never answered")
    share, worth = share_range(chip, formats), sheet_flop_per_joule(chip)
    most = n_gpus * session.duration_seconds * ceiling_flop_per_second(chip)
    band = energy_band(net, share, chip=chip, most=most)
    words = (
        f"{n_gpus} x {chip.name} took {net.low / 1e3:.4g} to {net.high / 1e3:.4g} kJ above idle of what the "
        f"node drew, and ordinary training makes {share.low:.3f} to {share.high:.2f} of the sheet's "
        f"{worth / 1e12:.2f} TFLOP a joule"
    )
    return Answer(made.NODE, band, (NODE_POWER,), assumed(made.NODE, words))


def _most_idle_watts(chip: Chip, n_gpus: int) -> float:
    return (IDLE_HOST_SHARE + IDLE_SHARE[1]) * n_gpus * chip.power_limit_watts


def _net_watts(
    low_watts: float, high_watts: float, chip: Chip, n_gpus: int, *, idle_watts: float
) -> tuple[float, float]:
    """Return the GPUs' power above idle that both routes allow."""
    limits = n_gpus * chip.power_limit_watts
    low = low_watts * SUPPLY_RATIO[0] - (HOST_SHARE[1] + IDLE_SHARE[1]) * limits
    high = high_watts * SUPPLY_RATIO[1] - (HOST_SHARE[0] + IDLE_SHARE[0]) * limits
    if np.isfinite(idle_watts):
        rise_low, rise_high = max(low_watts - idle_watts, 0.0), max(high_watts - idle_watts, 0.0)
        low = max(low, rise_low * RISE_SHARE[0] * SUPPLY_RATIO[0])
        high = min(high, rise_high * RISE_SHARE[1] * SUPPLY_RATIO[1] + HOT_IDLE_SHARE * limits)
    high = max(min(high, (EXCESS_RATIO - IDLE_SHARE[0]) * limits), 0.0)
    return min(max(low, 0.0), high), high
