"""Make the conversions of a convention one by one; declarations are believed and, beside it, not believed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from flopwitness.core.account import Amount
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target
from flopwitness.verify.conversions import Conversion, Ends, require_declared

NOTHING_DECLARED: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Convention:
    """A way to count.

    Attributes
    ----------
    name : str
        As users write it; stable.
    title, summary : str
        For people.
    target : Target
        Which estimate it starts from.
    conversions : tuple of Conversion
        In the order in which they are made.
    source : str
        The text that counts so.

    Raises
    ------
    InvalidNounError
        When a conversion is made twice, or no source is given.
    """

    name: str
    title: str
    summary: str
    target: Target
    conversions: tuple[Conversion, ...]
    source: str

    def __post_init__(self) -> None:
        """Refuse to make a conversion twice."""
        names = [conversion.name for conversion in self.conversions]
        if len(set(names)) < len(names):
            raise InvalidNounError(f"convention {self.name!r} makes a conversion twice")
        if not self.source:
            raise InvalidNounError(f"convention {self.name!r} needs a source")

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of the declarations that can change what comes out."""
        applied = (conversion for conversion in self.conversions if conversion.applies)
        return tuple(name for conversion in applied for name in conversion.declarations)


@dataclass(frozen=True, slots=True)
class Step:
    """One conversion as it was made.

    Attributes
    ----------
    conversion : Conversion
        Which.
    ends : Ends
        What it did to the lower and upper end; the point follows only as far as both ends move the same way.
    amount : Amount
        FLOP after it.
    spread_ratio : float
        How much further apart the ends are for it, >= 1; infinite where a range opens above nothing.
    """

    conversion: Conversion
    ends: Ends
    amount: Amount
    spread_ratio: float

    @property
    def is_declared(self) -> bool:
        """Whether it rests on somebody's word."""
        return self.ends.is_believed

    @property
    def sentence(self) -> str:
        """What it did, for people.

        Examples
        --------
        >>> from flopwitness.verify.conventions import CONVENTIONS
        >>> made = convert(Amount(1.0, 1.0, 1.0, 1.0), CONVENTIONS["eu-cumulative"])
        >>> made.widest_step.sentence
        'recomputation does not count: x 0.746 to 1, not known'
        """
        ends, subject = self.ends, f"{self.conversion.name} {self.conversion.reading.value}"
        basis = "declared, not measured" if ends.is_believed else "not known"
        if ends.is_believed and self.conversion.is_addition:
            return f"{subject}: {_range(ends.low_added, ends.high_added)} FLOP added, {basis}"
        if ends.low_factor == ends.high_factor == 1 and not ends.is_believed:
            undeclared = "nothing declared" if self.conversion.applies else "no change"
            return f"{subject}: {undeclared}"
        return f"{subject}: x {_range(ends.low_factor, ends.high_factor)}, {basis}"


@dataclass(frozen=True, slots=True)
class Converted:
    """FLOP as a convention counts them.

    Attributes
    ----------
    convention : Convention
        Which.
    amount : Amount
        With everything believed that was declared.
    steps : tuple of Step
        How it came to be; empty where the convention counts as the estimate does.
    without_declared : Amount
        With nothing believed.
    """

    convention: Convention
    amount: Amount
    steps: tuple[Step, ...]
    without_declared: Amount

    @property
    def widest_step(self) -> Step | None:
        """The step that widens the range most; None where none does."""
        widest = max(self.steps, key=lambda step: step.spread_ratio, default=None)
        return widest if widest is not None and widest.spread_ratio > 1 else None

    @property
    def envelope(self) -> Amount:
        """Bounds that hold whether or not what was declared is true; the point is that of believing it."""
        believed, unbelieved = self.amount, self.without_declared
        return Amount(
            min(believed.low_flop, unbelieved.low_flop),
            believed.point_flop,
            max(believed.high_flop, unbelieved.high_flop),
            max(believed.most_flop, unbelieved.most_flop),
        )


def convert(
    amount: Amount,
    convention: Convention,
    *,
    declared: Mapping[str, float] = NOTHING_DECLARED,
    widest: Collection[str] = (),
) -> Converted:
    """Return FLOP as a convention counts them.

    Parameters
    ----------
    amount : Amount
        FLOP of the convention's target.
    convention : Convention
        How to count.
    declared : mapping of str to float
        By the names in ``conversions.DECLARABLE``; taken as declared.
    widest : collection of str
        Conversions for which the lowest factor that is known to happen stands for the usual one: before a
        claim is called false, ``{"recomputation"}``, since telemetry cannot see that.

    Raises
    ------
    InvalidNounError
        When something is declared that nobody knows, or out of its range.
    """
    require_declared(declared)
    steps = _steps(amount, convention, declared=declared, widest=widest)
    undeclared = _steps(amount, convention, declared=NOTHING_DECLARED, widest=widest)
    return Converted(
        convention,
        steps[-1].amount if steps else amount,
        steps,
        undeclared[-1].amount if undeclared else amount,
    )


def _steps(
    amount: Amount, convention: Convention, *, declared: Mapping[str, float], widest: Collection[str]
) -> tuple[Step, ...]:
    steps: list[Step] = []
    for conversion in convention.conversions:
        ends = conversion.ends(declared, is_widest=conversion.name in widest)
        steps.append(_step(amount, conversion, ends=ends))
        amount = steps[-1].amount
    return tuple(steps)


def _step(before: Amount, conversion: Conversion, *, ends: Ends) -> Step:
    # The point stays where it was measured unless both ends are known to move: a range does not move it.
    point_factor = min(max(1.0, ends.low_factor), ends.high_factor)
    after = Amount(
        before.low_flop * ends.low_factor + ends.low_added,
        before.point_flop * point_factor + ends.low_added,
        before.high_flop * ends.high_factor + ends.high_added,
        before.most_flop * ends.high_factor + ends.high_added,
    )
    return Step(conversion, ends, after, _spread_ratio(before, ends))


def _spread_ratio(before: Amount, ends: Ends) -> float:
    opened_flop = ends.high_added - ends.low_added
    if opened_flop > 0:
        return 1 + opened_flop / before.high_flop if before.high_flop > 0 else float("inf")
    return ends.high_factor / ends.low_factor


def _range(low: float, high: float) -> str:
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
