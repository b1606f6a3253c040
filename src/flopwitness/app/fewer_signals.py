"""What can be said of sessions that a calibration cannot answer: none for the chip, or signals missing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Target
from flopwitness.detect.activity import ActivityRule
from flopwitness.detect.coarse import rule_for
from flopwitness.detect.dead import dead_finding
from flopwitness.detect.states import NODE_POWER
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.estimating import Estimated, estimated_all
from flopwitness.estimate.features.row import session_features
from flopwitness.estimate.sparse.answering import (
    NOTHING_ASSUMED,
    Assumptions,
    clock_finding,
    clock_variants,
    sparse_answers,
)
from flopwitness.estimate.sparse.made import BOUNDS_ONLY, SPARSE_METHODS, estimate_of
from flopwitness.estimate.sparse.narrowing import narrowing_finding, narrowings
from flopwitness.estimate.sparse.node import idle_watts_of_node, working_watts_of_node
from flopwitness.physics.chips import CHIPS
from flopwitness.verify.consistency.fills import fill_finding

ByTarget = Mapping[Target, Mapping[str, Estimate]]

WITH_POINT = tuple(name for name in SPARSE_METHODS if name not in BOUNDS_ONLY)
PREFERRED = ("fused", "pipe-cycles-calibrated", *WITH_POINT, "linear-power", *BOUNDS_ONLY)
"""A table shows the first of these that gave an estimate.

``linear-power`` comes late: it is narrow, and on other nodes and formats than it was fitted on it says 0 of
half of the runs (docs/missing-signals.md).
"""

ACTIVITY_METHODS = ("fused", "pipe-cycles-calibrated", "pipe-cycles")


def rule_of(recording: Recording, assumed: Assumptions = NOTHING_ASSUMED) -> ActivityRule:
    """Return how the detector should read a recording: by its step, its signals and, of a node, its level."""
    level = float("inf")
    for trace in recording.traces:
        if NODE_POWER in trace and trace.device.chip in CHIPS:
            chip = CHIPS[trace.device.chip]
            level = min(level, working_watts_of_node([trace], chip, assumed.n_gpus))
    return rule_for(recording.traces, node_watts=level)


def node_idle_watts(recording: Recording, assumed: Assumptions) -> dict[str, float]:
    """Return the idle power of each node of a recording by UUID; NaN where it was never seen idle."""
    return {
        trace.device.uuid: idle_watts_of_node(trace, CHIPS[trace.device.chip], assumed.n_gpus)
        for trace in recording.traces
        if NODE_POWER in trace and trace.device.chip in CHIPS
    }


def is_answerable(session: Session) -> bool:
    """Say whether a calibration can be asked about a session: every device is a GPU that is known."""
    return all(
        trace.device.chip in CHIPS and NODE_POWER not in trace and len(trace) for trace in session.traces
    )


def answered_with_clock(
    session: Session, idle_watts: Mapping[str, float], calibration: Calibration, target: Target
) -> Estimated | None:
    """Return estimates of a session whose clock was not recorded, over the clocks that it can have had.

    The hull of what the calibration says at the low end, in the middle and at the high end of the inferred
    clock; None where no clock is missing.
    """
    variants = clock_variants(session)
    if variants is None:
        return None
    rows = [session_features(each, idle_watts) for each in variants]
    low, middle, high = estimated_all(rows, calibration, target)
    hull = {
        name: _hull(low.estimates[name], one, high.estimates[name])
        for name, one in middle.estimates.items()
        if name in low.estimates and name in high.estimates
    }
    return Estimated(hull, (clock_finding(session), *middle.findings))


def with_sparse(
    session: Session,
    estimates: ByTarget,
    idle_watts: Mapping[str, float],
    assumed: Assumptions,
    *,
    is_calibrated: bool,
) -> tuple[ByTarget, tuple[Finding, ...]]:
    """Add what needs no calibration where activity gave no estimate, and say which signal is missed most.

    Returns
    -------
    mapping, tuple of Finding
        The same estimates where activity answered.
    """
    contradicted = tuple(found for trace in session.traces if (found := dead_finding(trace)) is not None)
    filled = tuple(found for trace in session.traces if (found := fill_finding(trace)) is not None)
    if any(name in by_name for by_name in estimates.values() for name in ACTIVITY_METHODS):
        return estimates, (*contradicted, *filled)
    answers, findings = sparse_answers(session, idle_watts, assumed)
    given = [each for each in answers if each.band is not None]
    targets = tuple(estimates) or tuple(Target)
    whole = {
        target: {**estimates.get(target, {}), **{each.method: estimate_of(each, target) for each in given}}
        for target in targets
    }
    told = [each.finding for each in answers if each.band is not None]
    wish = _wish(session, whole[targets[0]], is_calibrated=is_calibrated)
    return whole, (*contradicted, *filled, *findings, *told, *([] if wish is None else [wish]))


def shown_method(by_name: Mapping[str, Estimate]) -> str:
    """Return the method that a table shows; empty where there is none."""
    return next((name for name in PREFERRED if name in by_name), "")


def is_bound(method: str) -> bool:
    """Say whether a method gives a bound alone, whose point is none."""
    return method in BOUNDS_ONLY


def shared_channels(traces: Sequence[Trace]) -> frozenset[str]:
    """Return the channels that every device answered at least once."""
    answered = [
        {name for name, column in trace.channels.items() if np.isfinite(column).any()} for trace in traces
    ]
    return frozenset(set.intersection(*answered))


def _wish(session: Session, by_name: Mapping[str, Estimate], *, is_calibrated: bool) -> Finding | None:
    chip = CHIPS.get(session.traces[0].device.chip)
    if chip is None:
        return None
    ratios = [one.high_flop / one.low_flop for one in by_name.values() if one.low_flop > 0]
    now = min(ratios, default=float("inf"))
    held = shared_channels(session.traces)
    return narrowing_finding(narrowings(chip, held, ratio_now=now, is_calibrated=is_calibrated))


def _hull(low: Estimate, middle: Estimate, high: Estimate) -> Estimate:
    ends = low, middle, high
    return replace(
        middle,
        low_flop=min(each.low_flop for each in ends),
        high_flop=max(each.high_flop for each in ends),
        most_flop=max(each.most_flop for each in ends),
    )
