"""A whole recording through a detector at once."""

from collections.abc import Iterable

from flopwitness.core.ports import Detector
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace


def sessions_of(detector: Detector, traces: Iterable[Trace]) -> tuple[Session, ...]:
    """Feed every trace, close the detector and return all sessions in time order.

    Parameters
    ----------
    detector : Detector
        A fresh one; it is closed afterwards.
    traces : iterable of Trace
        Pieces of any number of devices; those of one device in time order.

    Returns
    -------
    tuple of Session
        By start, then stop, then devices: the same however the pieces were interleaved.
    """
    found = [session for piece in traces for session in detector.feed(piece)]
    return in_time_order([*found, *detector.close()])


def in_time_order(sessions: Iterable[Session]) -> tuple[Session, ...]:
    """Return sessions by start, then stop, then the UUIDs of their devices."""
    return tuple(sorted(sessions, key=_rank))


def _rank(session: Session) -> tuple[int, int, tuple[str, ...]]:
    return session.start_ns, session.stop_ns, tuple(trace.device.uuid for trace in session.traces)
