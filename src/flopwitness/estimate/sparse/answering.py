"""Every answer that a session allows without a calibration, and what each rests on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flopwitness.core.finding import Finding, Severity
from flopwitness.core.session import Session
from flopwitness.core.workload import Target
from flopwitness.detect.states import NODE_POWER
from flopwitness.estimate.estimating import Estimated
from flopwitness.estimate.features.energy import energy_findings
from flopwitness.estimate.sparse.boards import boards_of
from flopwitness.estimate.sparse.clock import inferred_clock, needs_clock, with_clock
from flopwitness.estimate.sparse.envelopes import (
    activity_envelope,
    power_clock_envelope,
    power_envelope,
    utilisation_ceiling,
)
from flopwitness.estimate.sparse.made import ACTIVITY, Answer, Band, estimate_of
from flopwitness.estimate.sparse.node import node_envelope
from flopwitness.estimate.sparse.priors import EVERY_FORMAT, NumberFormat
from flopwitness.physics.chips import CHIPS


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What somebody says of a recording that it does not say itself.

    Attributes
    ----------
    n_gpus : int
        GPUs behind the meter of a node, >= 1.
    formats : frozenset of NumberFormat
        Number formats that the matrix work may be in.
    """

    n_gpus: int = 1
    formats: frozenset[NumberFormat] = EVERY_FORMAT


NOTHING_ASSUMED = Assumptions()


def sparse_answers(
    session: Session, idle_watts: Mapping[str, float], assumed: Assumptions = NOTHING_ASSUMED
) -> tuple[tuple[Answer, ...], tuple[Finding, ...]]:
    """Return what each method that needs no calibration says of a session, the narrowest first.

    Parameters
    ----------
    session : Session
        The stretch and its samples.
    idle_watts : mapping of str to float
        Idle power by UUID, of a node the whole node's; absent or NaN where it was never seen idle.
    assumed : Assumptions
        What the recording does not say.

    Returns
    -------
    tuple of Answer, tuple of Finding
        Every method, those without an answer too; and what stood in the way of energy and clock. Nothing of
        a chip that nobody knows, but for a finding.
    """
    strangers = sorted({trace.device.chip for trace in session.traces} - set(CHIPS))
    if strangers:
        return (), (Finding("unknown-chip", f"no figures are known of {', '.join(strangers)}: no estimate"),)
    if any(NODE_POWER in trace for trace in session.traces):
        idle = idle_watts.get(session.traces[0].device.uuid, float("nan"))
        return (node_envelope(session, assumed.n_gpus, idle, formats=assumed.formats),), ()
    boards = boards_of(session, idle_watts)
    activity, notes = _activity_answer(session, idle_watts, assumed)
    answers = (
        activity,
        power_clock_envelope(boards, assumed.formats),
        power_envelope(boards, assumed.formats),
        utilisation_ceiling(boards),
    )
    found = [
        each for board in boards for each in energy_findings(board.energy, board.steps.trace.device.uuid)
    ]
    return answers, (*notes, *found)


def sparse_estimated(
    session: Session,
    idle_watts: Mapping[str, float],
    target: Target,
    assumed: Assumptions = NOTHING_ASSUMED,
) -> Estimated:
    """Return the estimates of one target, by method, and every finding beside them."""
    answers, findings = sparse_answers(session, idle_watts, assumed)
    estimates = {each.method: estimate_of(each, target) for each in answers if each.band is not None}
    return Estimated(estimates, (*findings, *(each.finding for each in answers)))


def clock_variants(session: Session) -> tuple[Session, Session, Session] | None:
    """Return a session with its clock inferred: at the low end, in the middle, at the high end.

    None where no clock is missing, or a chip is not known.
    """
    traces = session.traces
    if not any(needs_clock(trace) and trace.device.chip in CHIPS for trace in traces):
        return None
    clocks = [inferred_clock(trace) if needs_clock(trace) else None for trace in traces]
    made = []
    for end in range(3):
        cut = tuple(
            trace if clock is None else with_clock(trace, clock[end])
            for trace, clock in zip(traces, clocks, strict=True)
        )
        made.append(Session(session.start_ns, session.stop_ns, cut, session.name))
    return made[0], made[1], made[2]


def clock_finding(session: Session) -> Finding:
    """Say that the clock is inferred, and between which ends."""
    clocks = [inferred_clock(trace) for trace in session.traces if needs_clock(trace)]
    low = min(float(each.low.mean()) for each in clocks) / 1e6
    high = max(float(each.high.mean()) for each in clocks) / 1e6
    return Finding(
        "clock-inferred",
        f"the SM clock was not recorded: {low:.0f} to {high:.0f} MHz, by what holds it down and how busy "
        "the matrix pipes are; not the boost clock",
        Severity.WARNING,
        start_ns=session.start_ns,
        stop_ns=session.stop_ns,
    )


def _activity_answer(
    session: Session, idle_watts: Mapping[str, float], assumed: Assumptions
) -> tuple[Answer, tuple[Finding, ...]]:
    variants = clock_variants(session)
    if variants is None:
        return activity_envelope(boards_of(session, idle_watts), assumed.formats), ()
    low, point, high = (activity_envelope(boards_of(each, idle_watts), assumed.formats) for each in variants)
    if low.band is None or point.band is None or high.band is None:
        return point, ()
    band = Band(low.band.low, point.band.point, high.band.high, high.band.most)
    signals = tuple(name for name in point.signals if name != "sm_clock_hertz")
    return Answer(ACTIVITY, band, signals, point.finding), (clock_finding(session),)


def named_formats(names: Iterable[str]) -> frozenset[NumberFormat]:
    """Return formats by name; every format where none is named."""
    return frozenset(map(NumberFormat, names)) or EVERY_FORMAT
