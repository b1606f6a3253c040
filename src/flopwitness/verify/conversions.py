"""One step from FLOP to FLOP: what it is about, whether a text counts it, and how far it moves either end."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from flopwitness.core.errors import InvalidNounError
from flopwitness.physics.closed_forms import full_over_half


class Reading(StrEnum):
    """Whether a text counts the work that a conversion is about.

    ``kept``: no exclusion was found, and none is granted that does not stand in a text. ``open``: what a FLOP
    is there is not said, or whether work elsewhere adds to it, so both readings are carried.
    """

    IN = "counts"
    KEPT = "not excluded"
    OUT = "does not count"
    OPEN = "not stated"


class Effect(StrEnum):
    """What a conversion does to FLOP where it applies, and so what its declaration means.

    ``none``: nothing, whatever is declared. ``divided``: FLOP over the declared factor. ``masked``: FLOP over
    the factor of a causal mask, declared or from the declared shape. ``share out``: the declared share goes.
    ``doubled share``: the declared share counts twice. ``added``: the declared FLOP come on top.
    """

    NONE = "none"
    DIVIDED = "divided"
    MASKED = "masked"
    SHARE_OUT = "share out"
    DOUBLED_SHARE = "doubled share"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Declarable:
    """A value that a developer may declare; nothing of it can be measured from outside.

    Attributes
    ----------
    name : str
        As users write it, the unit at its end.
    meaning : str
        For people.
    least, most : float
        Its range; ``most`` itself is allowed where it ``is_closed``.
    is_closed : bool
        See ``most``.
    """

    name: str
    meaning: str
    least: float
    most: float
    is_closed: bool = False

    def require(self, value: float) -> None:
        """Raise ``InvalidNounError`` where a value is out of range."""
        if not (self.least <= value < self.most or (self.is_closed and value == self.most)):
            bracket = "]" if self.is_closed else ")"
            raise InvalidNounError(
                f"declared {self.name} must be in [{self.least:g}, {self.most:g}{bracket}, got {value}"
            )


_ANY = float("inf")
_CLOSED = frozenset({"recompute_factor", "mask_factor", "sparse_ratio"})

DECLARABLE: Mapping[str, Declarable] = MappingProxyType(
    {
        name: Declarable(name, meaning, least, most, is_closed=name in _CLOSED)
        for name, (meaning, least, most) in {
            "recompute_factor": ("executed over algorithmic FLOP; 1: no recomputation", 1, 2),
            "mask_factor": ("executed FLOP over those without the masked half; 1: a kernel skipped it", 1, 2),
            "context_tokens": ("tokens that attention spans; with width", 1, _ANY),
            "width": ("width d of the model; with context_tokens", 1, _ANY),
            "failed_ratio": ("share of the scope in failed and exploratory runs", 0, 1),
            "auxiliary_ratio": ("share of the rest in teachers, reward and value models", 0, 1),
            "public_synthetic_ratio": ("share of the rest that made public synthetic data", 0, 1),
            "evaluation_ratio": ("share of the rest in evaluation and red-teaming", 0, 1),
            "sparse_ratio": ("share of the rest in 2:4 sparse kernels", 0, 1),
            "synthetic_flop": ("FLOP elsewhere that made non-public synthetic data", 0, _ANY),
            "parent_flop": ("FLOP behind merged or initialising weights", 0, _ANY),
            "base_flop": ("FLOP behind the base model of a fine-tune", 0, _ANY),
        }.items()
    }
)
"""All that can be declared, by name; a share is one of what the shares before it left."""


@dataclass(frozen=True, slots=True)
class Ends:
    """What a conversion does to the lower and upper end: times a factor, and something added.

    Attributes
    ----------
    low_factor, high_factor : float
        > 0, ordered.
    low_added, high_added : float
        FLOP, >= 0, ordered.
    is_believed : bool
        Whether they follow a declaration.
    """

    low_factor: float
    high_factor: float
    low_added: float = 0.0
    high_added: float = 0.0
    is_believed: bool = False


@dataclass(frozen=True, slots=True)
class Conversion:
    """A named, sourced step from FLOP to FLOP, as one text reads it.

    Attributes
    ----------
    name, summary : str
        What it is about.
    low_factor, high_factor : float
        What both ends are multiplied with where nothing is declared; 0 < low <= high.
    is_declared : bool
        Whether it does nothing until something is declared.
    source : str
        Of the factors.
    effect : Effect
        What a declaration does.
    declarations : tuple of str
        Names in ``DECLARABLE`` that it takes.
    reading : Reading
        Whether the text counts the work.
    widest_low_factor : float or None
        The lowest factor that is known to happen; None where it is ``low_factor``.

    Raises
    ------
    InvalidNounError
        When factors are out of order, or no source is given.
    """

    name: str
    summary: str
    low_factor: float
    high_factor: float
    is_declared: bool
    source: str
    effect: Effect = Effect.NONE
    declarations: tuple[str, ...] = ()
    reading: Reading = Reading.IN
    widest_low_factor: float | None = None

    def __post_init__(self) -> None:
        """Refuse factors out of order and figures without a source."""
        lowest = self.low_factor if self.widest_low_factor is None else self.widest_low_factor
        if not 0 < lowest <= self.low_factor <= self.high_factor < float("inf"):
            raise InvalidNounError(f"conversion {self.name!r} has factors out of order")
        if not self.applies and not lowest == self.high_factor == 1:
            raise InvalidNounError(f"conversion {self.name!r} does not apply, so its factors must be 1")
        if not self.source:
            raise InvalidNounError(f"conversion {self.name!r} needs a source")

    @property
    def is_addition(self) -> bool:
        """Whether it adds FLOP from outside the scope."""
        return self.effect is Effect.ADDED

    @property
    def applies(self) -> bool:
        """Whether its effect may reach an end at all: counted work is not taken out, other work not added."""
        return self.effect is not Effect.NONE and self.reading not in self._untouched

    @property
    def _untouched(self) -> frozenset[Reading]:
        return frozenset({Reading.OUT} if self.is_addition else {Reading.IN, Reading.KEPT})

    def read_as(self, reading: Reading) -> "Conversion":
        """Return it as another text reads it; work that counts is not taken out."""
        if reading not in self._untouched:
            return replace(self, reading=reading)
        return replace(self, reading=reading, low_factor=1.0, high_factor=1.0, widest_low_factor=None)

    def ends(self, declared: Mapping[str, float], *, is_widest: bool = False) -> Ends:
        """Return what it does to both ends.

        Parameters
        ----------
        declared : mapping of str to float
            What is believed.
        is_widest : bool
            Whether, where nothing is declared, the lowest factor known to happen stands for the usual one.
        """
        value = self._declared(declared) if self.applies else None
        if value is None:
            low = self.widest_low_factor if is_widest and self.widest_low_factor else self.low_factor
            return Ends(low, self.high_factor)
        is_open = self.reading is Reading.OPEN
        if self.effect is Effect.ADDED:
            return Ends(1.0, 1.0, 0.0 if is_open else value, value, is_believed=True)
        low, high = (min(value, 1.0), max(value, 1.0)) if is_open else (value, value)
        return Ends(low, high, is_believed=True)

    def _declared(self, declared: Mapping[str, float]) -> float | None:
        """Return the factor, or the FLOP to add, that was declared; None where nothing was."""
        if self.effect is Effect.MASKED:
            return _declared_mask(declared)
        value = declared.get(self.declarations[0])
        if value is None or self.effect is Effect.ADDED:
            return value
        return {Effect.DIVIDED: 1 / max(value, 1), Effect.SHARE_OUT: 1 - value}.get(self.effect, 1 + value)


def require_declared(declared: Mapping[str, float]) -> None:
    """Refuse declarations that nobody knows, or out of their range: a misspelt one must not be passed over.

    Raises
    ------
    InvalidNounError
        Naming the declaration.
    """
    for name, value in declared.items():
        if name not in DECLARABLE:
            raise InvalidNounError(f"nobody can declare {name!r}; known are {', '.join(DECLARABLE)}")
        DECLARABLE[name].require(value)
    if ("width" in declared) != ("context_tokens" in declared):
        raise InvalidNounError("width and context_tokens are declared together or not at all")


def _declared_mask(declared: Mapping[str, float]) -> float | None:
    if "mask_factor" in declared:
        return 1 / declared["mask_factor"]
    if "width" in declared:
        return 1 / full_over_half(declared["width"], context_tokens=declared["context_tokens"])
    return None
