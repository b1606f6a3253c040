"""One stream of pieces a device: keeps the samples that open sessions need, and forgets the others."""

from collections.abc import Callable
from typing import Protocol

from flopwitness.core.errors import FlopWitnessError, InvalidNounError
from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import Trace, joined
from flopwitness.detect.stretches import Stretch


class DetectorClosedError(FlopWitnessError):
    """A detector was fed after it had been closed."""


class PieceOrderError(InvalidNounError):
    """A piece does not follow the one before: it goes back in time, or its device changed its name."""


class Watch(Protocol):
    """A rule that follows one device."""

    def advance(self, piece: Trace) -> list[Stretch]:
        """Take the next samples, at least one; return the stretches that they end, in time order."""
        ...

    def finish(self) -> list[Stretch]:
        """End what is open after the last sample."""
        ...

    @property
    def keep_from_ns(self) -> int:
        """Earliest instant at which a stretch that is still to come can start."""
        ...


class SampleBuffer:
    """The samples of one device that are still needed.

    Pieces are merged when the later one has grown as large as the earlier: a live stream of single samples
    costs a logarithm of copies each, and no Python object a sample.
    """

    def __init__(self) -> None:
        self._parts: list[Trace] = []

    def append(self, piece: Trace) -> None:
        """Add samples, at least one.

        Raises
        ------
        PieceOrderError
            When they do not come after all others, or belong to a device with other particulars.
        """
        if self._parts:
            _check_order(self._parts[-1], piece)
        self._parts.append(piece)
        while len(self._parts) > 1 and len(self._parts[-2]) <= len(self._parts[-1]):
            self._parts[-2:] = [joined(self._parts[-2:])]

    def forget_before(self, instant_ns: int) -> None:
        """Drop what lies before an instant, but for the last sample there: interpolation needs it."""
        head = self._parts[0]
        n_before = int(head.time_ns.searchsorted(instant_ns, side="left"))
        if n_before > 1 or (n_before == len(head) and len(self._parts) > 1):
            whole = self._whole()
            first = int(whole.time_ns.searchsorted(instant_ns, side="left")) - 1
            self._parts = [_copied(whole.between(max(first, 0), len(whole)))]

    def cut(self, stretch: Stretch) -> Session:
        """Return the session of a stretch, with the one sample on either side."""
        return cut_session((self._whole(),), stretch.start_ns, stretch.stop_ns, name=stretch.name)

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts)

    def _whole(self) -> Trace:
        self._parts = [joined(self._parts)]
        return self._parts[0]


class PerDeviceDetector:
    """Follow each device with a watch of its own; implements ``flopwitness.core.ports.Detector``.

    Parameters
    ----------
    make_watch : callable
        Gives the watch of a device that is seen for the first time.
    """

    def __init__(self, make_watch: Callable[[], Watch]) -> None:
        self._make_watch = make_watch
        self._streams: dict[str, tuple[SampleBuffer, Watch]] = {}
        self._is_closed = False

    def feed(self, piece: Trace) -> tuple[Session, ...]:
        """Take the next samples of one device; return the sessions that they end.

        Raises
        ------
        DetectorClosedError
            When the detector has been closed.
        PieceOrderError
            When the piece does not follow the device's last one; nothing of it was taken.
        """
        if self._is_closed:
            raise DetectorClosedError(f"a closed detector was fed samples of {piece.device.uuid}")
        if not len(piece):
            return ()
        buffer, watch = self._streams.get(piece.device.uuid) or (SampleBuffer(), self._make_watch())
        buffer.append(piece)
        self._streams[piece.device.uuid] = (buffer, watch)
        ended = tuple(buffer.cut(stretch) for stretch in watch.advance(piece))
        buffer.forget_before(watch.keep_from_ns)
        return ended

    def close(self) -> tuple[Session, ...]:
        """End what is still open and return it, in order of start; a second call returns nothing."""
        self._is_closed = True
        ended = [
            buffer.cut(stretch) for buffer, watch in self._streams.values() for stretch in watch.finish()
        ]
        self._streams.clear()
        return tuple(sorted(ended, key=lambda session: (session.start_ns, session.traces[0].device.uuid)))


def _check_order(before: Trace, piece: Trace) -> None:
    if piece.device != before.device:
        raise PieceOrderError(f"{piece.device} came after {before.device} under one UUID")
    if piece.time_ns[0] <= before.time_ns[-1]:
        raise PieceOrderError(
            f"piece of {piece.device.uuid} starts at {piece.time_ns[0]}, not after {before.time_ns[-1]}"
        )


def _copied(trace: Trace) -> Trace:
    """Return the same samples in memory of their own, so that the piece they came from can go."""
    columns = {name: column.copy() for name, column in trace.channels.items()}
    return Trace(trace.device, trace.time_ns.copy(), columns)
