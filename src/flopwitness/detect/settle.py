"""Move the end of a logged stretch to where the sensors saw it end.

Sensors trail the work: on an H200 at 10 Hz the last activity of a run stands in samples up to 0.2 s after
the program logged its end. A window taken as logged loses that activity, 2 % of a run of 4 s, and holds as
much idle time at its start instead. Where the device falls quiet after the window, all that belongs to the
run can be counted; where other work follows at once, nobody can tell the two apart and the window stays.
"""

import numpy as np

from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.detect.lost import without_lost_samples

SETTLE_SECONDS = 0.35
"""How long after a logged end its last activity may be reported: 0.2 s of lag, one step, and some room."""

QUIET_RATIO = 0.2
"""Work has ended where activity falls below this share of what it was while the stretch worked."""


def settled_stop_ns(
    traces: tuple[Trace, ...], start_ns: int, stop_ns: int, *, settle_seconds: float = SETTLE_SECONDS
) -> int:
    """Return the end of a stretch as the sensors saw it, at or after ``stop_ns``.

    For each device the quietest sample within ``settle_seconds`` after the logged end, if it is quiet against
    the stretch itself; the latest of these over the devices. A device that stays busy does not move the end.

    Parameters
    ----------
    traces : tuple of Trace
        Everything that was recorded of the devices.
    start_ns, stop_ns : int
        Logged stretch, UTC nanoseconds.
    settle_seconds : float
        How far to look, >= 0.
    """
    reach_ns = stop_ns + round(settle_seconds * NANOSECONDS_PER_SECOND)
    return max([stop_ns, *(_quiet_ns(trace, start_ns, stop_ns, reach_ns) for trace in traces)])


def _quiet_ns(trace: Trace, start_ns: int, stop_ns: int, reach_ns: int) -> int:
    start, stop, reach = np.searchsorted(trace.time_ns, [start_ns, stop_ns, reach_ns], side="right")
    names = [name for name in ("tensor_active_ratio", "gpu_util_ratio") if name in trace]
    if not names or stop in (start, reach):
        return stop_ns
    activity = without_lost_samples(trace.between(start, reach + 1))[names[0]]
    usual, after = activity[: stop - start], activity[stop - start : reach - start]
    if np.isnan(usual).all() or np.isnan(after).all():
        return stop_ns
    quietest = int(np.nanargmin(after))
    # Pauses of the run itself say nothing about how busy it was.
    working = usual[usual > QUIET_RATIO * float(np.nanmax(usual))]
    is_quiet = len(working) > 0 and after[quietest] < QUIET_RATIO * float(np.median(working))
    return int(trace.time_ns[stop + quietest]) if is_quiet else stop_ns
