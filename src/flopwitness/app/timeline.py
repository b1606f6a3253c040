"""One line of instants for live samples: it never goes back, whatever happens to the wall clock.

Samplers read the wall clock once and go on by the monotonic clock. A daemon that starts again reads it again:
where it was set meanwhile, the new samples are shifted onto the line of the old ones.
"""

from pathlib import Path

from flopwitness.app.ticking import Clock, Round
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.storage.segments import SegmentsHeader

STEP_SECONDS = 0.5
"""A difference of clocks above this was set by somebody; below it, they drift or are corrected bit by bit."""

UNSEEN_SECONDS = 3.0
"""How long a stop counts that nobody can measure: longer than any step between samples that is believed."""

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Timeline:
    """Says how far the samples of this run must be shifted, and tells when the wall clock is set.

    Parameters
    ----------
    clock : Clock
        The clocks of this machine; this run's samples begin now.

    Attributes
    ----------
    shift_ns : int
        What is added to the instants of samples.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._line_offset_ns = self._offset_ns = clock.utc_ns() - clock.monotonic_ns()
        self.shift_ns = 0

    def join(self, anchor: SegmentsHeader | None, *, boot: str, floor_ns: int | None) -> None:
        """Go on where an earlier run stopped.

        Parameters
        ----------
        anchor : SegmentsHeader or None
            Of the recording that is continued. Within one boot of the machine, the monotonic clock says
            exactly where the new samples stand on its line.
        boot : str
            Tells this boot from others; empty where unknown.
        floor_ns : int or None
            The last instant that is known, UTC nanoseconds. Where nothing else says how long the stop was and
            the wall clock stands before it, samples go on ``UNSEEN_SECONDS`` after it.
        """
        now_ns, shift_ns = self.utc_ns(), 0
        if anchor is not None and boot and anchor.boot_id == boot:
            shift_ns = anchor.offset_ns - self._line_offset_ns
            shift_ns = shift_ns if abs(shift_ns) > STEP_SECONDS * NANOSECONDS_PER_SECOND else 0
        elif floor_ns is not None and now_ns <= floor_ns:
            shift_ns = floor_ns - now_ns + round(UNSEEN_SECONDS * NANOSECONDS_PER_SECOND)
        self.shift_ns += shift_ns
        self._line_offset_ns += shift_ns

    def utc_ns(self) -> int:
        """Return the present instant on the line, nanoseconds since the Unix epoch."""
        return self._line_offset_ns + self._clock.monotonic_ns()

    def monotonic_ns(self) -> int:
        """Return the monotonic clock of this machine."""
        return self._clock.monotonic_ns()

    def shifted(self, pieces: Round) -> Round:
        """Return samples on the line."""
        if not self.shift_ns:
            return pieces
        return tuple(Trace(piece.device, piece.time_ns + self.shift_ns, piece.channels) for piece in pieces)

    def step(self) -> str | None:
        """Say it, in one line, where the wall clock was set since the last call."""
        offset_ns = self._clock.utc_ns() - self._clock.monotonic_ns()
        seconds = (offset_ns - self._offset_ns) / NANOSECONDS_PER_SECOND
        self._offset_ns = offset_ns
        if abs(seconds) <= STEP_SECONDS:
            return None
        return f"the clock of this machine was set {_way(seconds)}; instants go on as before"

    def findings(self) -> tuple[Finding, ...]:
        """Say how far the instants are from the wall clock as it stood last, where somebody set it."""
        seconds = (self._line_offset_ns - self._offset_ns) / NANOSECONDS_PER_SECOND
        if abs(seconds) <= STEP_SECONDS:
            return ()
        where = "ahead of" if seconds > 0 else "behind"
        message = f"instants are {abs(seconds):.1f} s {where} the clock of this machine: somebody set it"
        return (Finding("clock-set", message, Severity.WARNING),)


def boot_id() -> str:
    """Return what tells this boot of the machine from others; empty where the system does not say."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _way(seconds: float) -> str:
    return f"{'forward' if seconds > 0 else 'back'} by {abs(seconds):.1f} s"
