"""Boards in memory: limits and locks that tests set, read and refuse."""

from dataclasses import dataclass, field

from flopwitness.lab.capping import CappingError, ClockRange, PowerLimit

DEFAULT_WATTS, LOW_WATTS, HIGH_WATTS = 650.0, 200.0, 700.0
LOW_HERTZ, HIGH_HERTZ = 345e6, 1980e6


@dataclass
class FakeBoards:
    """Two boards by default.

    Attributes
    ----------
    may_set : bool
        Whether the user is root.
    refusing : set of str
        Boards that take nothing any more.
    granularity_watts : float
        Limits are rounded to multiples of this.
    calls : list of tuple
        What was set, in order.
    """

    names: tuple[str, ...] = ("GPU-a", "GPU-b")
    may_set: bool = True
    refusing: set[str] = field(default_factory=set)
    granularity_watts: float = 1.0
    limits: dict[str, float] = field(default_factory=dict)
    locks: dict[str, float] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)

    def uuids(self) -> tuple[str, ...]:
        """Return the boards."""
        return self.names

    def power_limit(self, uuid: str) -> PowerLimit:
        """Return what was set last."""
        self._known(uuid)
        return PowerLimit(self.limits.get(uuid, DEFAULT_WATTS), LOW_WATTS, HIGH_WATTS)

    def set_power_limit(self, uuid: str, watts: float) -> None:
        """Set it, rounded."""
        self._settable(uuid, "limit")
        self.limits[uuid] = round(watts / self.granularity_watts) * self.granularity_watts

    def clock_range(self, uuid: str) -> ClockRange:
        """Return the range of an H200."""
        self._known(uuid)
        return ClockRange(LOW_HERTZ, HIGH_HERTZ)

    def lock_clock(self, uuid: str, hertz: float) -> None:
        """Lock it."""
        self._settable(uuid, "lock")
        self.locks[uuid] = hertz

    def unlock_clock(self, uuid: str) -> None:
        """Let it go."""
        self._settable(uuid, "unlock")
        self.locks.pop(uuid, None)

    def _known(self, uuid: str) -> None:
        if uuid not in self.names:
            raise CappingError(f"{uuid}: no such board on this machine")

    def _settable(self, uuid: str, what: str) -> None:
        self._known(uuid)
        if not self.may_set:
            raise CappingError(f"{uuid}: power limits and clocks are set by root alone")
        if uuid in self.refusing:
            raise CappingError(f"{uuid}: GPU is lost")
        self.calls.append((what, uuid))
