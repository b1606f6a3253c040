"""Counters: set back, moved further than the chip can, or standing still; and against their gauges."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.channels import CANONICAL, Kind
from flopwitness.core.trace import Trace
from flopwitness.physics.chips import chip_named
from flopwitness.physics.counters import REFRESH_SECONDS, most_per_second
from flopwitness.verify.consistency.deviation import Deviation

CODE = "counter"
RATE_CODE = "counter-against-rate"
ENERGY = "energy_joules_total"

LOWEST_WATTS = 30.0
"""No board of the table idles below 50 W; half of that and less is a counter that stood still."""

STANDSTILL_SECONDS = 2.0

RATE_LIMIT, REFRESHED_SECONDS = 0.05, 3.0
"""Relative difference of NVLink bytes counted and rates integrated that passes, and seconds of lag.

Clean: the rates read 1 to 3 % more, and the counter trails by up to 1.7 s, 2.6 s where work hangs.
"""

MIN_RATE_BYTES = 2e10
"""Less traffic than this is not compared: the counter is refreshed seldom."""


def counter_deviations(trace: Trace, before: Trace | None = None) -> Iterator[Deviation]:
    """Check every counter of a device.

    Parameters
    ----------
    trace : Trace
        What is judged.
    before : Trace or None
        Earlier samples of the same UUID, if any are kept: counters must go on from there.
    """
    chip = chip_named(trace.device.chip)
    for name in trace.channels:
        if name in CANONICAL and CANONICAL[name].kind is Kind.COUNTER:
            yield from _moves(trace, before, name, most=most_per_second(name, chip))
    for way in ("tx", "rx"):
        yield from _against_rate(trace, way)


def _moves(trace: Trace, before: Trace | None, name: str, *, most: float) -> Iterator[Deviation]:
    time_ns, values = trace.time_ns, trace[name]
    if before is not None and name in before and len(before):
        time_ns = np.concatenate([before.time_ns[-1:], time_ns])
        values = np.concatenate([before[name][-1:], values])
    known = np.isfinite(values)
    time_ns, values = time_ns[known], values[known]
    if len(values) < 2:
        return
    moved, seconds = np.diff(values), np.diff(time_ns) / 1e9
    for amounts, words in (
        (np.where(moved < 0, 2.0, 0.0), "fell by {:.4g}"),
        (moved / (most * (seconds + REFRESH_SECONDS)), "moved by {:.4g}, more than the chip can"),
    ):
        where = int(amounts.argmax())
        sentence = (
            f"GPU {trace.device.uuid}: {name} {words.format(abs(moved[where]))} within {seconds[where]:.1f} s"
        )
        span = (int(time_ns[where]), int(time_ns[where + 1]))
        yield Deviation(CODE, trace.device.uuid, *span, max(float(amounts[where]), 0.0), 1.0, sentence)
    if name == ENERGY:
        yield from _standstill(trace.device.uuid, time_ns, values)


def _standstill(uuid: str, time_ns: NDArray[np.int64], joules: NDArray[np.float64]) -> Iterator[Deviation]:
    """Compare with the least that any board draws, over stretches of some seconds."""
    later = np.searchsorted(time_ns, time_ns + round(STANDSTILL_SECONDS * 1e9))
    first = np.flatnonzero(later < len(time_ns))
    if not len(first):
        return
    last = later[first]
    watts = (joules[last] - joules[first]) / ((time_ns[last] - time_ns[first]) / 1e9)
    where = int(watts.argmin())
    amount = LOWEST_WATTS / max(float(watts[where]), LOWEST_WATTS / 10)
    sentence = f"GPU {uuid}: {ENERGY} moved as if the board drew {watts[where]:.0f} W"
    yield Deviation(CODE, uuid, int(time_ns[first[where]]), int(time_ns[last[where]]), amount, 1.0, sentence)


def _against_rate(trace: Trace, way: str) -> Iterator[Deviation]:
    counter, rate = f"nvlink_{way}_bytes_total", f"nvlink_{way}_bytes_per_second"
    if counter not in trace or rate not in trace or len(trace) < 2:
        return
    values = trace[counter]
    known = values[np.isfinite(values)]
    integrated = float(np.nansum(trace[rate][1:] * np.diff(trace.seconds())))
    counted = float(known[-1] - known[0]) if len(known) else 0.0
    if max(integrated, counted) < MIN_RATE_BYTES:
        return
    amount = abs(integrated - counted) / max(integrated, counted)
    sentence = f"GPU {trace.device.uuid}: {counter} and {rate} differ by {amount:.0%}"
    span = (int(trace.time_ns[0]), int(trace.time_ns[-1]))
    limit = RATE_LIMIT + REFRESHED_SECONDS / float(trace.seconds()[-1])
    yield Deviation(RATE_CODE, trace.device.uuid, *span, amount, limit, sentence)
