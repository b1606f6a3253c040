"""Our detector: sessions from arithmetic and memory activity, with power beside it. Refuses to know FLOP."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.detect.states import DEFAULT_LEVELS, IdleLevels, State, sample_states, witnesses
from flopwitness.detect.stream import PerDeviceDetector
from flopwitness.detect.stretches import Stretch, StretchCutter, equal_runs, nanoseconds


@dataclass(frozen=True, slots=True)
class ActivityRule:
    """When a stretch begins, ends and counts as stalled.

    Attributes
    ----------
    levels : IdleLevels
        What a witness reads while a device is idle.
    quiet_seconds : float
        Seen-idle time that ends a session, > 0. The default parts runs that sleep 1.3 s between warm-up and
        measurement, of which 1.0 to 1.2 s are seen idle at 10 Hz.
    stall_seconds : float
        Stalled time that is a stretch of its own, > 0; shorter waits belong to the job that waits.
    max_step_seconds : float
        A longer time between two samples is a gap that nobody saw, > 0. The default takes samples once a
        second, as DCGM's profiling fields come by default, with one of them lost.

    Raises
    ------
    InvalidNounError
        When a duration is not positive.
    """

    levels: IdleLevels = DEFAULT_LEVELS
    quiet_seconds: float = 0.8
    stall_seconds: float = 5.0
    max_step_seconds: float = 2.5

    def __post_init__(self) -> None:
        """Refuse durations that end everything or nothing."""
        for name in ("quiet_seconds", "stall_seconds", "max_step_seconds"):
            if not 0 < getattr(self, name) < float("inf"):
                raise InvalidNounError(f"{name} must be positive and finite, got {getattr(self, name)}")


DEFAULT_RULE = ActivityRule()


class ActivityWatch:
    """Follow one device step by step.

    A sample speaks of the time since the one before it, as profiling counters and power means do; a device's
    first sample has no time to speak of. All witnesses trail a start by up to one sample (on an H200 at
    10 Hz, activity reads 0 beside 720 W), so a stretch begins one idle step before the first step that shows
    something, unless that step alone parts it from the stretch before.
    """

    def __init__(self, rule: ActivityRule = DEFAULT_RULE) -> None:
        self._levels = rule.levels
        self._max_step_ns = nanoseconds(rule.max_step_seconds)
        self._cutter = StretchCutter(
            quiet_ns=nanoseconds(rule.quiet_seconds), stall_ns=nanoseconds(rule.stall_seconds)
        )
        self._last_ns: int | None = None
        self._idle_since_ns: int | None = None
        self._lead_ns: int | None = None

    def advance(self, piece: Trace) -> list[Stretch]:
        """Take the next samples, at least one; return the stretches that they end."""
        bounds_ns = piece.time_ns if self._last_ns is None else np.append(self._last_ns, piece.time_ns)
        self._last_ns = int(bounds_ns[-1])
        n_steps = len(bounds_ns) - 1
        states = sample_states(piece, self._levels)[len(piece) - n_steps :]
        states[np.diff(bounds_ns) > self._max_step_ns] = State.UNSEEN
        ended: list[Stretch] = []
        for first, end in equal_runs(states):
            ended += self._push(State(states[first]), bounds_ns[first : end + 1])
        return ended

    def finish(self) -> list[Stretch]:
        """End what is open after the last sample."""
        return self._cutter.flush()

    @property
    def keep_from_ns(self) -> int:
        """Start of what is open, or else of the step that the next stretch would begin with."""
        for instant_ns in (self._cutter.open_since_ns, self._lead_ns, self._last_ns):
            if instant_ns is not None:
                return instant_ns
        return 0

    def _push(self, state: State, bounds_ns: NDArray[np.int64]) -> list[Stretch]:
        """Take steps of one state, given by the samples that bound them."""
        start_ns, last_start_ns, stop_ns = (int(bound) for bound in bounds_ns[[0, -2, -1]])
        if state is State.IDLE:
            self._idle_since_ns = start_ns if self._idle_since_ns is None else self._idle_since_ns
            self._lead_ns = last_start_ns if last_start_ns > self._idle_since_ns else None
            return self._cutter.push(state, start_ns, stop_ns)
        start_ns = start_ns if self._lead_ns is None else self._lead_ns
        self._idle_since_ns = self._lead_ns = None
        return self._cutter.push(state, start_ns, stop_ns)


class ActivityDetector(PerDeviceDetector):
    """Find the stretches in which a device was not seen idle, one device at a time.

    A stretch in which a device is held but computes nothing, as in a deadlock, is a session of its own, named
    ``"stalled"``. Use ``flopwitness.detect.stitch`` to join the devices of one job.

    Parameters
    ----------
    rule : ActivityRule
        Levels and durations.

    Notes
    -----
    A law of this detector: every step between two samples that is not seen idle lies inside exactly one
    session of its device. A gap between two idle samples is therefore a session too, with nothing in it.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> second = 10**9
    >>> trace = Trace(
    ...     Device("GPU-a"),
    ...     [0, second, 2 * second, 3 * second, 4 * second],
    ...     {"tensor_active_ratio": [0, 0, 0.4, 0, 0], "dram_active_ratio": [0, 0, 0.3, 0, 0]},
    ... )
    >>> detector = ActivityDetector()
    >>> [(session.start_ns, session.stop_ns) for session in detector.feed(trace)]
    [(1000000000, 2000000000)]
    """

    def __init__(self, rule: ActivityRule = DEFAULT_RULE) -> None:
        super().__init__(lambda: ActivityWatch(rule))
        self._witnesses: dict[str, tuple[str, ...]] = {}

    def feed(self, piece: Trace) -> tuple[Session, ...]:
        """Take the next samples of one device; return the sessions that they end."""
        ended = super().feed(piece)
        known = self._witnesses.get(piece.device.uuid, ())
        self._witnesses[piece.device.uuid] = tuple(dict.fromkeys((*known, *witnesses(piece))))
        return ended

    @property
    def witnesses(self) -> dict[str, tuple[str, ...]]:
        """Channels that were asked, by device UUID; where there is no activity, utilisation and power."""
        return dict(self._witnesses)
