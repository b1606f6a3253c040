"""How the detector reads recordings that are slow, or that show power and utilisation alone."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.detect.activity import DEFAULT_RULE, ActivityRule
from flopwitness.detect.states import NODE_POWER, IdleLevels, activity_witnesses

PAUSE_SECONDS = 4.5
"""Seen-idle time that ends a session where no activity is shown: three polls of the published daemon.

A job that compiles or loads between two steps leaves utilisation at 0 and power at its idle level for
seconds; what parts it from the end of the job shows in activity and clocks alone.
"""

SLOW_SECONDS = 1.0
"""Samples further apart than this are those of a slow sampler: its own step says what a gap is."""

GAP_STEPS = 2.5
"""A step longer than this many usual ones is a gap: as ``ActivityRule.max_step_seconds`` at one a second."""

QUIET_STEPS = 1.5
"""One idle sample of a slow sampler parts nothing, two do: it saw no more than an instant of its step."""


def rule_for(traces: Iterable[Trace], *, node_watts: float = float("inf")) -> ActivityRule:
    """Return the rule for a recording; ``DEFAULT_RULE`` where it is fast and shows activity.

    Parameters
    ----------
    traces : iterable of Trace
        The whole recording, a trace a device.
    node_watts : float
        The most that a node draws while idle, > 0; infinite where nobody knows.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> second = 10**9
    >>> slow = Trace(Device("GPU-a"), [0, 15 * second, 30 * second], {"power_watts": [70.0, 70.0, 300.0]})
    >>> rule_for([slow]).max_step_seconds, rule_for([slow]).quiet_seconds
    (37.5, 22.5)
    """
    rule, held = DEFAULT_RULE, tuple(traces)
    if any(not activity_witnesses(trace) for trace in held):
        rule = replace(rule, quiet_seconds=PAUSE_SECONDS)
    if any(NODE_POWER in trace for trace in held):
        rule = replace(rule, levels=IdleLevels(node_watts=node_watts))
    step = max((usual_step_seconds(trace) for trace in held), default=0.0)
    if step <= SLOW_SECONDS:
        return rule
    return replace(
        rule,
        quiet_seconds=max(rule.quiet_seconds, QUIET_STEPS * step),
        stall_seconds=max(rule.stall_seconds, QUIET_STEPS * step),
        max_step_seconds=max(rule.max_step_seconds, GAP_STEPS * step),
    )


def usual_step_seconds(trace: Trace) -> float:
    """Return the median time between samples; 0.0 for fewer than two."""
    return float(np.median(np.diff(trace.time_ns))) / 1e9 if len(trace) > 1 else 0.0
