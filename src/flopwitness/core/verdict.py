"""Claims, limits and what the evidence says of them."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from flopwitness.core.errors import InvalidNounError


@dataclass(frozen=True, slots=True)
class Claim:
    """Who says how many FLOP a scope took, counted how.

    Attributes
    ----------
    declarant : str
        Who says it.
    flop : float
        The count, > 0.
    convention : str
        Name of the convention that it is counted by; see ``flopwitness.verify.conventions``.
    margin_ratio : float
        Error that the declarant may make, as a share of the claim, in [0, 1).

    Raises
    ------
    InvalidNounError
        When a value is out of its range.
    """

    declarant: str
    flop: float
    convention: str
    margin_ratio: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a claim of nothing."""
        _require_flop("a claim", self.flop)
        if not 0 <= self.margin_ratio < 1:
            raise InvalidNounError(f"a claim's margin must be in [0, 1), got {self.margin_ratio}")


@dataclass(frozen=True, slots=True)
class Threshold:
    """Which rule sets which limit, with its citation.

    Attributes
    ----------
    name : str
        As users write it, such as ``"eu-systemic-risk"``.
    title, jurisdiction : str
        For people.
    flop : float
        The limit, > 0.
    is_strict : bool
        Whether only more than the limit is above it (``>``), or the limit itself is too (``>=``).
    convention : str
        Name of the convention that the rule counts by.
    measured : str
        What the rule measures, in its words or near them.
    conditions : tuple of str
        What else must hold; nothing of it can be seen in telemetry.
    status : str
        Such as ``"in force"``, ``"proposal"``, ``"not in force"``.
    citation, url : str
        The text and where it stands; the citation is never empty.
    text_date : datetime.date or None
        Of the text that was read; None where not recorded.
    is_verified : bool
        Whether the text itself was read, not an excerpt or somebody's account of it.

    Raises
    ------
    InvalidNounError
        When the limit is not positive and finite, or a name or citation is missing.
    """

    name: str
    title: str
    jurisdiction: str
    flop: float
    is_strict: bool
    convention: str
    measured: str
    conditions: tuple[str, ...]
    status: str
    citation: str
    url: str = ""
    text_date: date | None = None
    is_verified: bool = False

    def __post_init__(self) -> None:
        """Refuse a limit without a source."""
        _require_flop(f"threshold {self.name!r}", self.flop)
        for field_name in ("name", "convention", "citation"):
            if not getattr(self, field_name):
                raise InvalidNounError(f"threshold {self.name!r} needs a {field_name}")


class Outcome(StrEnum):
    """What evidence says of a claim; ignorance is an outcome, not an error."""

    CONSISTENT = "consistent"
    INCONSISTENT = "inconsistent"
    INCONCLUSIVE = "inconclusive"


class Standing(StrEnum):
    """Where a scope stands against a threshold."""

    BELOW = "below"
    ABOVE = "above"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer, why, and the digests of what it rests on.

    Attributes
    ----------
    answer : Outcome or Standing
        Of a claim, or against a threshold.
    reasons : tuple of str
        Plain sentences; at least one.
    convention : str
        Which FLOP were compared; empty where nothing was.
    probability_over : tuple of float or None
        Least and most probability that the scope took more than the figure it was weighed against, if
        workloads err as they did in calibration; None where there is no evidence. The two differ by what
        nobody observed and by conventions that cannot be seen.
    would_settle : tuple of str
        What evidence would turn "inconclusive" or "undetermined" into an answer.
    evidence_digests : tuple of str
        SHA-256 of what was weighed.

    Raises
    ------
    InvalidNounError
        When no reason is given, or the probabilities are out of order.
    """

    answer: Outcome | Standing
    reasons: tuple[str, ...]
    convention: str = ""
    probability_over: tuple[float, float] | None = None
    would_settle: tuple[str, ...] = field(default=())
    evidence_digests: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Refuse a verdict without a reason."""
        if not self.reasons:
            raise InvalidNounError("a verdict needs at least one reason")
        if self.probability_over is not None:
            least, most = self.probability_over
            if not 0 <= least <= most <= 1:
                raise InvalidNounError(f"probabilities {least} and {most} are not ordered inside [0, 1]")


def _require_flop(what: str, flop: float) -> None:
    if not 0 < flop < float("inf"):
        raise InvalidNounError(f"{what} needs a positive finite FLOP count, got {flop}")
