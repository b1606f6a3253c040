"""FLOP of a scope: which sessions count, what they add up to, and what nobody saw."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workclass import ClassOpinion
from flopwitness.core.workload import Target


@dataclass(frozen=True, slots=True)
class Scope:
    """What is to be added up: which devices, in which period.

    Attributes
    ----------
    name : str
        Such as a project.
    devices : tuple of str
        UUIDs, sorted, at least one. One that no evidence speaks of was not observed, it is not idle.
    start_ns, stop_ns : int
        The period, UTC nanoseconds, ``start_ns < stop_ns``.

    Raises
    ------
    InvalidNounError
        When the period is empty, or devices are missing or repeated.
    """

    name: str
    devices: tuple[str, ...]
    start_ns: int
    stop_ns: int

    def __post_init__(self) -> None:
        """Refuse a scope of nothing."""
        if self.stop_ns <= self.start_ns:
            raise InvalidNounError(f"scope {self.name!r} stops at {self.stop_ns}, not after {self.start_ns}")
        if not self.devices:
            raise InvalidNounError(f"scope {self.name!r} names no device")
        if list(self.devices) != sorted(set(self.devices)):
            raise InvalidNounError(f"scope {self.name!r}: devices must be sorted and different")

    @property
    def device_seconds(self) -> float:
        """Seconds of the period, times devices."""
        return len(self.devices) * (self.stop_ns - self.start_ns) / NANOSECONDS_PER_SECOND


@dataclass(frozen=True, slots=True)
class SessionEvidence:
    """One session as an account takes it, from a recording or from a ledger.

    Attributes
    ----------
    session_id : str
        Its identity.
    start_ns, stop_ns : int
        The stretch, UTC nanoseconds.
    devices : tuple of str
        UUIDs.
    estimates : mapping of Target to mapping of str to Estimate
        By target and method.
    findings : tuple of Finding
        What an auditor should know of it.
    opinion : ClassOpinion or None
        What kind of work it was; None where nobody asked.
    energy_joules : float
        Of its devices; NaN where unknown.
    source, digest : str
        The file that it comes from, and the SHA-256 of what it was made from.

    Raises
    ------
    InvalidNounError
        When the stretch is empty or no device is named.
    """

    session_id: str
    start_ns: int
    stop_ns: int
    devices: tuple[str, ...]
    estimates: Mapping[Target, Mapping[str, Estimate]]
    findings: tuple[Finding, ...] = field(default=())
    opinion: ClassOpinion | None = None
    energy_joules: float = float("nan")
    source: str = ""
    digest: str = ""

    def __post_init__(self) -> None:
        """Refuse a session of nothing."""
        if self.stop_ns <= self.start_ns:
            raise InvalidNounError(f"session {self.session_id} stops before it starts")
        if not self.devices:
            raise InvalidNounError(f"session {self.session_id} names no device")


@dataclass(frozen=True, slots=True)
class DeviceWatch:
    """When a device was watched, and the most that it can do where it was not.

    Attributes
    ----------
    device : str
        UUID.
    chip : str
        Its name, as the driver gives it.
    stretches : tuple of tuple of int
        Start and stop of each stretch with samples, UTC nanoseconds, in order, apart.
    ceiling_flop_per_second : float
        What every pipe of the chip does together at its highest clock; infinite for an unknown chip.
    outside_flop : float
        The most that was seen outside sessions, >= 0: activity too small to be one.
    """

    device: str
    chip: str
    stretches: tuple[tuple[int, int], ...]
    ceiling_flop_per_second: float
    outside_flop: float = 0.0


@dataclass(frozen=True, slots=True)
class Amount:
    """FLOP with bounds.

    Attributes
    ----------
    low_flop, point_flop, high_flop, most_flop : float
        ``0 <= low <= point <= high <= most``: the first three for workloads that meant no harm, the last
        for those made to be under-counted. ``high`` and ``most`` may be infinite.

    Raises
    ------
    InvalidNounError
        When the order is broken.
    """

    low_flop: float
    point_flop: float
    high_flop: float
    most_flop: float

    def __post_init__(self) -> None:
        """Refuse bounds out of order."""
        if not 0 <= self.low_flop <= self.point_flop <= self.high_flop <= self.most_flop:
            ends = (self.low_flop, self.point_flop, self.high_flop, self.most_flop)
            raise InvalidNounError(f"amounts out of order: {ends}")
        if self.point_flop == float("inf"):
            raise InvalidNounError("a point cannot be infinite")


NOTHING = Amount(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Account:
    """What a scope took.

    Attributes
    ----------
    scope : Scope
        Of what.
    target : Target
        Which FLOP the sessions were estimated for.
    method : str
        The estimator that was asked.
    coverage_ratio : float
        Share of intervals that hold the truth, as calibrated; in (0, 1).
    sessions : tuple of SessionEvidence
        Those inside the scope, in order of their start.
    observed : Amount
        Their sum, with what was not observed inside sessions in their bounds.
    outside_flop : float
        The most that was seen outside sessions.
    unobserved_device_seconds, unobserved_flop : float
        Time of the scope that nobody watched, and the most that it can have held.
    not_estimated : tuple of str
        Sessions for which the method has no answer; nothing is known of their FLOP but the ceiling, which
        is in ``unobserved_flop``.
    declared : mapping of str to float
        What was declared, not measured, such as ``"evaluation_ratio"``.
    """

    scope: Scope
    target: Target
    method: str
    coverage_ratio: float
    sessions: tuple[SessionEvidence, ...]
    observed: Amount
    outside_flop: float
    unobserved_device_seconds: float
    unobserved_flop: float
    not_estimated: tuple[str, ...] = field(default=())
    declared: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def total(self) -> Amount:
        """What was observed, and above it the most that nobody saw."""
        unseen = self.outside_flop + self.unobserved_flop
        seen = self.observed
        return Amount(seen.low_flop, seen.point_flop, seen.high_flop + unseen, seen.most_flop + unseen)
