"""What a scope took: sessions added up once each, and what nobody saw beside them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import fsum

from flopwitness.core.account import Account, DeviceWatch, Scope, SessionEvidence
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Target
from flopwitness.verify.dependence import ALL_SHARED, Dependence, Part, summed
from flopwitness.verify.spans import Span, inside, joined, length, without

PARTLY_OUTSIDE = "partly-outside"
STALLED_BESIDE = "stalled-beside"
STALLED = "stalled"
STALLED_RATIO = 0.9
"""From this share of its device time on, a session is one of waiting: its ends are a sample off at most."""

OPENED_CODES = frozenset(
    {"unobserved-time", "lost-samples", "format-not-identified", PARTLY_OUTSIDE, STALLED_BESIDE}
)
"""Findings that say that bounds hold more than the errors of a calibration: these do not average out."""

NOMINAL_COVERAGE_RATIO = 0.9
"""Of an account without an estimate: that of every calibration of this project."""


def account(  # noqa: PLR0913  one question: of what, from what, counted how
    scope: Scope,
    sessions: Iterable[SessionEvidence],
    watches: Iterable[DeviceWatch],
    *,
    target: Target,
    method: str,
    dependence: Dependence = ALL_SHARED,
) -> Account:
    """Add up what a scope took.

    Parameters
    ----------
    scope : Scope
        Which devices, in which period.
    sessions : iterable of SessionEvidence
        In any order; those wholly outside the scope count for nothing. One that lies partly outside counts
        nothing at the low end, the share of its device time that lies inside at the point, and all of it at
        the high end, and says so in a finding: whoever has the samples cuts them before estimating.
    watches : iterable of DeviceWatch
        When each device was watched, also several of one device.
    target : Target
        Which FLOP to count.
    method : str
        Which estimator to ask.
    dependence : Dependence
        How errors of sessions combine; by default nothing averages out.

    Raises
    ------
    InvalidNounError
        When time of one device would count twice: two sessions on it overlap, or one was given twice. A
        session of waiting (``detect.stalls``) may lie beside the work of its partners: it counts at the high
        end alone.

    Notes
    -----
    Unobserved is the time of each device that lies neither in a watched stretch nor in a session with an
    estimate, which bounds its own gaps, and the time of sessions without an estimate. At the low end nothing
    happened in it, at the high end the chip's ceiling. A device that nobody watched has no ceiling unless a
    watch without stretches names its chip.
    """
    devices = frozenset(scope.devices)
    held = [one for each in sessions if (one := _within(each, scope, devices)) is not None]
    counted = _counted_once(sorted(held, key=_rank))
    told = {one.session_id: found for one in counted if (found := _estimate(one, target, method)) is not None}
    silent = tuple(one for one in counted if one.session_id not in told)
    by_device, own = _by_device(watches), _sessions_by_device(counted)
    unseen = {
        device: _unseen_seconds(scope, by_device.get(device, ()), own.get(device, ()), set(told))
        for device in scope.devices
    }
    parts = [
        Part(one.session_id, told[one.session_id], is_opened(one))
        for one in counted
        if one.session_id in told
    ]
    return Account(
        scope=scope,
        target=target,
        method=method,
        coverage_ratio=min((one.coverage_ratio for one in told.values()), default=NOMINAL_COVERAGE_RATIO),
        sessions=counted,
        observed=summed(parts, dependence),
        outside_flop=fsum(watch.outside_flop for uuid in scope.devices for watch in by_device.get(uuid, ())),
        unobserved_device_seconds=fsum(unseen.values()),
        unobserved_flop=fsum(
            seconds * _ceiling(by_device.get(device, ())) for device, seconds in unseen.items() if seconds > 0
        ),
        not_estimated=tuple(one.session_id for one in silent),
    )


def is_opened(session: SessionEvidence) -> bool:
    """Say whether a session's bounds hold more than errors that could average out."""
    return any(finding.code in OPENED_CODES for finding in session.findings)


def _estimate(session: SessionEvidence, target: Target, method: str) -> Estimate | None:
    return session.estimates.get(target, {}).get(method)


def _rank(session: SessionEvidence) -> tuple[int, int, tuple[str, ...], str]:
    return session.start_ns, session.stop_ns, session.devices, session.session_id


def _within(session: SessionEvidence, scope: Scope, asked: Collection[str]) -> SessionEvidence | None:
    """Return a session as far as the scope holds it; None where it does not."""
    start, stop = max(session.start_ns, scope.start_ns), min(session.stop_ns, scope.stop_ns)
    devices = tuple(uuid for uuid in session.devices if uuid in asked)
    if stop <= start or not devices:
        return None
    if (start, stop, devices) == (session.start_ns, session.stop_ns, session.devices):
        return session
    whole = (session.stop_ns - session.start_ns) * len(session.devices)
    share = (stop - start) * len(devices) / whole
    message = (
        f"session {session.session_id} lies inside the scope with {share:.1%} of its device time: it counts "
        "nothing at the low end, that share at the point and all of it at the high end"
    )
    finding = Finding(PARTLY_OUTSIDE, message, Severity.WARNING, "", start, stop)
    return _scaled(replace(session, start_ns=start, stop_ns=stop, devices=devices), share, finding)


def _scaled(session: SessionEvidence, share: float, finding: Finding) -> SessionEvidence:
    """Return a session that counts nothing at the low end, a share at the point and all at the high end."""
    estimates = {
        target: {
            name: replace(one, low_flop=0.0, point_flop=one.point_flop * share)
            for name, one in by_name.items()
        }
        for target, by_name in session.estimates.items()
    }
    return replace(session, estimates=estimates, findings=(*session.findings, finding))


def _counted_once(sessions: Sequence[SessionEvidence]) -> tuple[SessionEvidence, ...]:
    """Return the sessions, those of waiting beside work at the high end alone; refuse time counted twice."""
    working = [one for one in sessions if not _is_waiting(one)]
    waiting = [one for one in sessions if _is_waiting(one)]
    for group in (working, waiting):
        _refuse_overlap(group)
    busy = _spans(working)
    beside = {one.session_id for one in waiting if _overlaps(one, busy)}
    return tuple(_beside(one) if one.session_id in beside and _is_waiting(one) else one for one in sessions)


def _refuse_overlap(sessions: Sequence[SessionEvidence]) -> None:
    for device, own in _sessions_by_device(sessions).items():
        latest = own[0]
        for before, after in pairwise(own):
            latest = max(latest, before, key=lambda one: one.stop_ns)
            if after.start_ns < latest.stop_ns:
                raise InvalidNounError(_twice(latest, after, device))


def _twice(first: SessionEvidence, second: SessionEvidence, device: str) -> str:
    sources = " and ".join(dict.fromkeys(one.source for one in (first, second) if one.source))
    where = f" ({sources})" if sources else ""
    if first.session_id == second.session_id and first.digest == second.digest:
        return f"session {first.session_id} was given twice, with the same digest{where}: it counts once"
    stop = min(first.stop_ns, second.stop_ns)
    seconds = (stop - second.start_ns) / NANOSECONDS_PER_SECOND
    return (
        f"sessions {first.session_id} and {second.session_id} both count device {device} from "
        f"{second.start_ns} to {stop} ns ({seconds:.3f} s){where}: the same time may not count twice"
    )


def _is_waiting(session: SessionEvidence) -> bool:
    """Say whether findings call nearly all of a session's device time stalled."""
    span = (session.start_ns, session.stop_ns)
    stalled = sum(
        length(inside(joined([(one.start_ns, one.stop_ns)]), *span))
        for one in session.findings
        if one.code == STALLED and one.subject in session.devices
        if one.start_ns is not None and one.stop_ns is not None
    )
    return stalled >= STALLED_RATIO * (session.stop_ns - session.start_ns) * len(session.devices)


def _overlaps(session: SessionEvidence, busy: Mapping[str, Sequence[Span]]) -> bool:
    return any(inside(busy.get(device, ()), session.start_ns, session.stop_ns) for device in session.devices)


def _beside(session: SessionEvidence) -> SessionEvidence:
    message = (
        f"session {session.session_id} is a GPU that waited beside the work of its partners, which counts "
        "that time: it counts at the high end alone"
    )
    span = (session.start_ns, session.stop_ns)
    return _scaled(session, 0.0, Finding(STALLED_BESIDE, message, Severity.NOTE, "", *span))


def _sessions_by_device(sessions: Iterable[SessionEvidence]) -> dict[str, list[SessionEvidence]]:
    by_device: dict[str, list[SessionEvidence]] = defaultdict(list)
    for one in sessions:
        for device in one.devices:
            by_device[device].append(one)
    return by_device


def _spans(sessions: Iterable[SessionEvidence]) -> dict[str, tuple[Span, ...]]:
    by_device = _sessions_by_device(sessions).items()
    return {device: joined((one.start_ns, one.stop_ns) for one in own) for device, own in by_device}


def _by_device(watches: Iterable[DeviceWatch]) -> dict[str, tuple[DeviceWatch, ...]]:
    found: dict[str, tuple[DeviceWatch, ...]] = {}
    for watch in watches:
        found[watch.device] = (*found.get(watch.device, ()), watch)
    return found


def _unseen_seconds(
    scope: Scope, watches: Iterable[DeviceWatch], own: Sequence[SessionEvidence], told: Collection[str]
) -> float:
    """Return the seconds of one device in the scope of which nothing but the ceiling is known."""
    answered = joined((one.start_ns, one.stop_ns) for one in own if one.session_id in told)
    silent = joined((one.start_ns, one.stop_ns) for one in own if one.session_id not in told)
    watched = joined(span for watch in watches for span in watch.stretches)
    covered = joined((*without(watched, silent), *answered))
    return length(without([(scope.start_ns, scope.stop_ns)], covered)) / NANOSECONDS_PER_SECOND


def _ceiling(watches: Iterable[DeviceWatch]) -> float:
    """Return the most that a device does in a second; infinite where nobody says what it is."""
    return max((watch.ceiling_flop_per_second for watch in watches), default=float("inf"))
