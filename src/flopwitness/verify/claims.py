"""Hold a declared figure against what was measured, and against the hours and units behind it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from flopwitness.core.account import Amount
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.verdict import Claim
from flopwitness.physics.closed_forms import dense_training_flop

EU_MARGIN = 0.3
"""Error that a reported figure may have: ``|C - R| / R <= 0.3``, so the truth lies in 0.7 R to 1.3 R.

Commission guidelines for providers of general-purpose AI models, C(2025) 7719 final: any method, if in best
judgement the overall error is within 30 % of the reported estimate.
"""

ROUNDING = 1e-12
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Period:
    """One term of the EU's hardware-based formula, as declared.

    Attributes
    ----------
    n_units : float
        N, how many units, >= 0.
    seconds : float
        L, how long, >= 0.
    peak_flop_per_second : float
        H, the unit-weighted mean of their peaks, >= 0.
    utilisation_ratio : float
        U, mean utilisation in [0, 1]. The guidelines do not define it, and the choice alone moves the result:
        NVML's utilisation reads 2.41 to 3.10 times the model FLOP utilisation on an H100
        (github.com/nikosvil/flopcheck).

    Raises
    ------
    InvalidNounError
        When a value is out of its range.
    """

    n_units: float
    seconds: float
    peak_flop_per_second: float
    utilisation_ratio: float

    def __post_init__(self) -> None:
        """Refuse what cannot have run."""
        for name in ("n_units", "seconds", "peak_flop_per_second"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InvalidNounError(f"a period's {name} must be finite, >= 0, got {getattr(self, name)}")
        if not 0 <= self.utilisation_ratio <= 1:
            raise InvalidNounError(f"a utilisation must be in [0, 1], got {self.utilisation_ratio}")

    @property
    def flop(self) -> float:
        """N x L x H x U."""
        return self.n_units * self.seconds * self.peak_flop_per_second * self.utilisation_ratio


def hardware_flop(periods: Iterable[Period]) -> float:
    """Return the EU's hardware-based figure, the sum of N x L x H x U over periods.

    Commission guidelines for providers of general-purpose AI models, C(2025) 7719 final.

    Raises
    ------
    InvalidNounError
        When there is no period: that would be a figure of nothing.

    Examples
    --------
    The two cases that the guidelines work out, "about 1e23" and "6.5e23":

    >>> f"{hardware_flop([Period(200_000, SECONDS_PER_HOUR, 300e12, 0.5)]):.3g}"
    '1.08e+23'
    >>> f"{hardware_flop([Period(370_000, SECONDS_PER_HOUR, 989e12, 0.5)]):.3g}"
    '6.59e+23'
    """
    terms = [period.flop for period in periods]
    if not terms:
        raise InvalidNounError("a hardware-based figure needs at least one period")
    return sum(terms)


def architecture_flop(n_parameters: float, *, n_tokens: float) -> float:
    """Return the EU's architecture-based figure of a large dense transformer, 6PD.

    Holds where attention is small: the width is large against context / 12. The exact wording of the
    guidelines is unverified; see ``physics.closed_forms.dense_training_flop``.
    """
    return dense_training_flop(n_parameters, n_tokens=n_tokens)


def is_within_margin(actual_flop: float, claim_flop: float, *, margin_ratio: float = EU_MARGIN) -> bool:
    """Say whether ``|C - R| / R`` stays within a margin; C is a figure, R the declared one.

    Use it to hold a declared breakdown, such as ``hardware_flop``, against the declared total.

    Raises
    ------
    InvalidNounError
        When the declared figure is not positive and finite.
    """
    if not 0 < claim_flop < float("inf"):
        raise InvalidNounError(f"a declared figure must be positive and finite, got {claim_flop}")
    # Rounding decides for the declarant: exactly 30 % off is within 30 %.
    return abs(actual_flop - claim_flop) <= margin_ratio * claim_flop * (1 + ROUNDING)


class Agreement(StrEnum):
    """How measured bounds lie to what a claim allows.

    ``inside``: wholly within. ``partly``: some of the bounds are within, others not. ``claim too low``,
    ``claim too high``: wholly outside, all of the bounds above or below what the claim allows.
    """

    INSIDE = "inside"
    PARTLY = "partly"
    CLAIM_TOO_LOW = "claim too low"
    CLAIM_TOO_HIGH = "claim too high"


def allowed(claim: Claim) -> tuple[float, float]:
    """Return the least and most FLOP that the truth may have for a claim to hold, its margin granted."""
    return claim.flop * (1 - claim.margin_ratio), claim.flop * (1 + claim.margin_ratio)


def agreement(amount: Amount, claim: Claim) -> Agreement:
    """Say how low and high of an amount lie to what a claim allows.

    A claim without margin is a point: bounds around it are ``partly``, for a wide interval confirms nothing.

    Parameters
    ----------
    amount : Amount
        FLOP as the claim's convention counts them, the widest recomputation applied: telemetry cannot see it.
    claim : Claim
        What was declared.
    """
    least, most = allowed(claim)
    if amount.low_flop > most:
        return Agreement.CLAIM_TOO_LOW
    if amount.high_flop < least:
        return Agreement.CLAIM_TOO_HIGH
    is_inside = least <= amount.low_flop and amount.high_flop <= most
    return Agreement.INSIDE if is_inside else Agreement.PARTLY
