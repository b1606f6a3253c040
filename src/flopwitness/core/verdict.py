"""Claims, limits and what the evidence says of them."""

from dataclasses import dataclass, field
from enum import StrEnum

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target


@dataclass(frozen=True, slots=True)
class Claim:
    """Who says how many FLOP were spent in which stretch, counted how; FLOP > 0."""

    declarant: str
    flop: float
    target: Target
    start_ns: int
    stop_ns: int

    def __post_init__(self) -> None:
        """Refuse a claim of nothing."""
        if not 0 < self.flop < float("inf"):
            raise InvalidNounError(f"a claim needs a positive finite FLOP count, got {self.flop}")


@dataclass(frozen=True, slots=True)
class Threshold:
    """Which rule sets which limit, with its citation; FLOP > 0."""

    name: str
    flop: float
    citation: str

    def __post_init__(self) -> None:
        """Refuse a limit without a source."""
        if not 0 < self.flop < float("inf"):
            raise InvalidNounError(
                f"threshold {self.name!r} needs a positive finite FLOP count, got {self.flop}"
            )
        if not self.citation:
            raise InvalidNounError(f"threshold {self.name!r} needs a citation")


class Outcome(StrEnum):
    """What evidence says of a claim; ignorance is an outcome, not an error."""

    CONSISTENT = "consistent"
    INCONSISTENT = "inconsistent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome, why, and the digests of what it rests on; at least one reason."""

    outcome: Outcome
    reasons: tuple[str, ...]
    evidence_digests: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Refuse a verdict without a reason."""
        if not self.reasons:
            raise InvalidNounError("a verdict needs at least one reason")
