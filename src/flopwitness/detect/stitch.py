"""Which sessions belong together: devices of a job, and a job across pauses. Refuses to know what ran."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import Trace, joined
from flopwitness.detect.run import in_time_order
from flopwitness.detect.stretches import nanoseconds


def stitch(
    sessions: Iterable[Session], *, traces: Sequence[Trace] = (), max_pause_seconds: float = 0.0
) -> tuple[Session, ...]:
    """Join sessions that overlap in time, and those that a short pause of the same devices parts.

    Only sessions of one name are joined: a stalled one stays apart from work. Two jobs that run at the same
    time on different devices become one session; nothing in time alone tells them apart.

    Parameters
    ----------
    sessions : iterable of Session
        As detectors return them, in any order.
    traces : sequence of Trace
        The whole recording, if at hand: joined sessions are cut from it, so that each device has its samples
        over the whole stretch. Without it a device keeps what its own sessions held, and the pauses between
        them are missing rows, which count as unobserved.
    max_pause_seconds : float
        Longest pause that is joined, >= 0. It is never joined across another session of one of the devices.

    Returns
    -------
    tuple of Session
        In time order. A device's time may lie in two of them only where it was stalled while its partners
        worked.
    """
    by_uuid = {trace.device.uuid: trace for trace in traces}
    max_pause_ns = nanoseconds(max_pause_seconds)
    joint = _stitched_once(sessions, by_uuid, max_pause_ns)
    # A pause that was joined may hold work of another device, which then overlaps.
    while len(again := _stitched_once(joint, by_uuid, max_pause_ns)) < len(joint):
        joint = again
    return joint


def _stitched_once(
    sessions: Iterable[Session], by_uuid: dict[str, Trace], max_pause_ns: int
) -> tuple[Session, ...]:
    groups = _joined_pauses(_overlapping(sessions), max_pause_ns)
    return in_time_order(_merged(group, by_uuid) for group in groups)


def _overlapping(sessions: Iterable[Session]) -> list[list[Session]]:
    """Group sessions of one name that share time, directly or through others."""
    groups: list[list[Session]] = []
    by_name = sorted(in_time_order(sessions), key=lambda session: session.name)
    for _, named in groupby(by_name, key=lambda session: session.name):
        reach_ns: int | None = None
        for session in named:
            if reach_ns is None or session.start_ns >= reach_ns:
                groups.append([])
            groups[-1].append(session)
            reach_ns = session.stop_ns if reach_ns is None else max(reach_ns, session.stop_ns)
    return groups


def _joined_pauses(groups: list[list[Session]], max_pause_ns: int) -> list[list[Session]]:
    """Join a group to the last one before it on these devices, if the pause between them is short."""
    kept: list[list[Session]] = []
    latest: dict[str, list[Session]] = {}
    for group in sorted(groups, key=lambda group: group[0].start_ns):
        before = [latest[uuid] for uuid in _uuids(group) if uuid in latest]
        if before and all(_continues(last, group, max_pause_ns) for last in before):
            before[0].extend(group)  # all of them are one list: their devices are the same
        else:
            kept.append(group)
            latest |= dict.fromkeys(_uuids(group), group)
    return kept


def _continues(last: list[Session], group: list[Session], max_pause_ns: int) -> bool:
    pause_ns = group[0].start_ns - max(session.stop_ns for session in last)
    same = _uuids(last) == _uuids(group) and last[0].name == group[0].name
    return same and pause_ns <= max_pause_ns


def _uuids(group: list[Session]) -> frozenset[str]:
    return frozenset(trace.device.uuid for session in group for trace in session.traces)


def _merged(group: list[Session], by_uuid: dict[str, Trace]) -> Session:
    if len(group) == 1:
        return group[0]
    start_ns = min(session.start_ns for session in group)
    stop_ns = max(session.stop_ns for session in group)
    held = {uuid: by_uuid.get(uuid) or _rejoined(group, uuid) for uuid in sorted(_uuids(group))}
    return cut_session(tuple(held.values()), start_ns, stop_ns, name=group[0].name)


def _rejoined(group: list[Session], uuid: str) -> Trace:
    """Join what sessions of one device held; samples that two of them share are taken once."""
    parts: list[Trace] = []
    for trace in (trace for session in group for trace in session.traces if trace.device.uuid == uuid):
        first = int(trace.time_ns.searchsorted(parts[-1].time_ns[-1], side="right")) if parts else 0
        if first < len(trace):
            parts.append(trace.between(first, len(trace)))
    return joined(parts)
