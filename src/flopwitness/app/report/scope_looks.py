"""How the figures of a scope draw each class of work: fill, pattern and letter, so that none needs colour."""

from dataclasses import dataclass

from flopwitness.app.report.palette import PAPER, SERIES
from flopwitness.app.report.scope_wording import LETTERS, UNASKED
from flopwitness.core.workclass import ClassOpinion, WorkClass

UNSEEN_HATCH = "////"
"""Of time and FLOP that nobody saw, as matplotlib spells it."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a class is drawn: its letter and name, the fill, and the hatch as matplotlib spells it."""

    letter: str
    name: str
    fill: str
    hatch: str


LOOKS = {
    WorkClass.TRAINING: Look(LETTERS[WorkClass.TRAINING], "training", SERIES[0], ""),
    WorkClass.INFERENCE: Look(LETTERS[WorkClass.INFERENCE], "inference", SERIES[3], "...."),
    WorkClass.OTHER: Look(LETTERS[WorkClass.OTHER], "other work", SERIES[4], "----"),
    WorkClass.UNKNOWN: Look(LETTERS[WorkClass.UNKNOWN], "unknown", PAPER, "xxxx"),
}
NOT_ASKED = Look(UNASKED, "class not asked", PAPER, "")


def look_of(opinion: ClassOpinion | None) -> Look:
    """Return how a session with this opinion is drawn."""
    return NOT_ASKED if opinion is None else LOOKS[opinion.answer]
