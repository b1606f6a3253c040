"""Power of several devices at one instant: a series that has ended adds nothing, and sums are compared.

Reports: github.com/sustainable-computing-io/kepler/issues/1926, github.com/aitra-ai/aitra-meter/pull/103:
a GPU that no longer exists kept its last 174 W in the node's sum.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.periods import periods_of

FRESH_PERIODS = 0.75
"""A value counts so many periods around its sample: half a period reaches the next, the rest is jitter."""

CONSERVED_RATIO = 0.05
"""GPUs may read this much above the node that they sit in: sensors state some percent."""

NODE = "node_power_watts"
POWERS = ("power_watts", "power_instant_watts")


def summed_watts(traces: Sequence[Trace], time_ns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the power of all devices at some instants, shape (n_instants,), watts; NaN where none answers.

    A device counts with the sample that is nearest in time, unless that is further away than its own period
    allows: one that is missing from a scrape has ended.
    """
    watts = np.stack([_watts_at(trace, time_ns) for trace in traces])
    known = np.isfinite(watts)
    total: NDArray[np.float64] = np.where(known, watts, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total, np.nan)


def note_conservation(traces: Sequence[Trace], notes: Notes) -> None:
    """Note ``not-conserved`` for each node of a recording whose GPUs draw more than it."""
    for node in traces:
        if NODE in node:
            gpus = [
                each for each in traces if each.device.host == node.device.host and _power(each) is not None
            ]
            for finding in conservation_findings(gpus, node) if gpus else ():
                notes.say(finding)


def conservation_findings(devices: Sequence[Trace], node: Trace) -> Iterator[Finding]:
    """Yield ``not-conserved`` where the devices of a node draw more than the node itself.

    Parameters
    ----------
    devices : sequence of Trace
        The GPUs of one node.
    node : Trace
        Its meter, with ``node_power_watts``.
    """
    whole = node.column(NODE)
    parts = summed_watts(devices, node.time_ns)
    is_more = parts > whole * (1 + CONSERVED_RATIO)
    if not is_more.any():
        return
    rows = np.flatnonzero(is_more)
    worst = int(rows[(parts - whole)[rows].argmax()])
    message = (
        f"the GPUs draw more than their node in {len(rows)} samples, {parts[worst]:.0f} W of"
        f" {whole[worst]:.0f} W at worst"
    )
    span = int(node.time_ns[rows[0]]), int(node.time_ns[rows[-1]])
    yield Finding("not-conserved", message, Severity.WARNING, node.device.uuid, *span)


def _power(trace: Trace) -> NDArray[np.float64] | None:
    return next((trace[name] for name in POWERS if name in trace), None)


def _watts_at(trace: Trace, time_ns: NDArray[np.int64]) -> NDArray[np.float64]:
    power = _power(trace)
    if power is None or not len(trace):
        return np.full(len(time_ns), np.nan)
    period = periods_of(trace).median_seconds
    furthest = FRESH_PERIODS * period if period == period else 0.0  # noqa: PLR0124  not NaN
    seconds = (time_ns - trace.time_ns[0]) / NANOSECONDS_PER_SECOND
    middles = (trace.seconds()[1:] + trace.seconds()[:-1]) / 2
    nearest = np.searchsorted(middles, seconds)
    is_near = np.abs(seconds - trace.seconds()[nearest]) <= furthest
    return np.where(is_near, power[nearest], np.nan)
