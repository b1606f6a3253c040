"""What an attack is: one named change to a workload, at several strengths, and why it may fool a witness."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import WorkloadConfig

Value: TypeAlias = int | float | str | bool

LABEL = re.compile(r"[a-z0-9.]+(-[a-z0-9.]+)*")
"""How attacks and strengths may be called: their names are part of file and run names."""


@dataclass(frozen=True, slots=True)
class Strength:
    """How hard an attack is tried.

    Attributes
    ----------
    label : str
        Lower-case words and numbers, joined by hyphens; unique in its attack.
    changes : mapping
        Hyper-parameters that differ from the twin's; of an attack that is not run here, settings of the
        board with their unit in the name.

    Raises
    ------
    InvalidNounError
        When the label is none, or nothing changes.
    """

    label: str
    changes: Mapping[str, Value]

    def __post_init__(self) -> None:
        """Refuse what could not be told apart from the twin."""
        if not LABEL.fullmatch(self.label):
            raise InvalidNounError(f"{self.label!r} is no label: lower-case words joined by hyphens")
        if not self.changes:
            raise InvalidNounError(f"strength {self.label!r} changes nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A way to make a workload look like less, or like another, than it is.

    Attributes
    ----------
    name : str
        Lower-case words joined by hyphens; the family of its configurations.
    rationale : str
        One sentence: what the attacker hopes for.
    twin : WorkloadConfig
        The benign run beside it.
    strengths : tuple of Strength
        From mild to strong, as far as they have an order.
    reference : str
        Its number in the experiment (S1 to S6), or in the list of known attacks (W1 to W18, T1 to T8).
    n_gpus_required : int
        With fewer GPUs it makes no sense.
    runnable : bool
        False where a workload cannot do it: it changes a setting of the board, which others share.

    Raises
    ------
    InvalidNounError
        When a name is none, the rationale is no sentence, or strengths are missing or share a label.
    """

    name: str
    rationale: str
    twin: WorkloadConfig
    strengths: tuple[Strength, ...]
    reference: str = ""
    n_gpus_required: int = 1
    runnable: bool = field(default=True)

    def __post_init__(self) -> None:
        """Refuse what is no attack."""
        if not LABEL.fullmatch(self.name):
            raise InvalidNounError(f"{self.name!r} is no name: lower-case words joined by hyphens")
        if not self.rationale.endswith("."):
            raise InvalidNounError(f"attack {self.name!r} needs a sentence that says why")
        labels = [strength.label for strength in self.strengths]
        if not labels or len(set(labels)) < len(labels):
            raise InvalidNounError(f"attack {self.name!r} needs strengths of different labels, got {labels}")
        if self.n_gpus_required < 1:
            raise InvalidNounError(f"attack {self.name!r} needs at least one GPU")

    def name_of(self, strength: Strength) -> str:
        """Return the name of a strength's configuration."""
        return f"{self.name}-{strength.label}"

    def configuration(self, strength: Strength) -> WorkloadConfig:
        """Return the twin as this strength changes it.

        Raises
        ------
        InvalidNounError
            When no workload can do it.

        Examples
        --------
        >>> twin = WorkloadConfig("twin-small", "twin", {"d_model": 64, "n_heads": 4})
        >>> attack = Attack(
        ...     name="heads", rationale="Odd heads.", twin=twin, strengths=(Strength("1", {"n_heads": 1}),)
        ... )
        >>> attack.configuration(attack.strengths[0])
        WorkloadConfig(name='heads-1', family='heads', parameters={'d_model': 64, 'n_heads': 1})
        """
        if not self.runnable:
            raise InvalidNounError(f"attack {self.name!r} changes a setting of the board, no workload")
        parameters = dict(self.twin.parameters) | dict(strength.changes)
        return WorkloadConfig(self.name_of(strength), self.name, parameters)

    @property
    def configurations(self) -> tuple[WorkloadConfig, ...]:
        """One a strength; none where the attack is not run by a workload."""
        return tuple(self.configuration(one) for one in self.strengths) if self.runnable else ()
