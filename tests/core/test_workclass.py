"""An opinion on the kind of work: never without a reason, never of a class without its probability."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workclass import KNOWN_CLASSES, ClassOpinion, WorkClass

NAN = float("nan")
TRAINING, INFERENCE, OTHER = KNOWN_CLASSES


def opinion(
    answer: WorkClass = TRAINING,
    *shares: float,
    reasons: tuple[str, ...] = ("because",),
    unfamiliar_ratio: float = 0.0,
) -> ClassOpinion:
    """Return an opinion with these probabilities, in the order of the classes."""
    probabilities = dict(zip(KNOWN_CLASSES, shares or (0.8, 0.1, 0.1), strict=True))
    return ClassOpinion(answer, probabilities, reasons, 1, unfamiliar_ratio)


IMPOSSIBLE: dict[str, Callable[[], object]] = {
    "no reason": lambda: opinion(reasons=()),
    "an answer without its probability": lambda: ClassOpinion(TRAINING, {INFERENCE: 1.0}, ("because",)),
    "an answer without probabilities": lambda: ClassOpinion(TRAINING, {}, ("because",)),
    "more than all": lambda: opinion(TRAINING, 0.8, 0.3, 0.1),
    "less than all": lambda: opinion(TRAINING, 0.8, 0.1, 0.0),
    "a probability of NaN": lambda: opinion(TRAINING, 0.8, NAN, 0.1),
    "a probability below zero": lambda: opinion(TRAINING, 0.8, 0.4, -0.2),
    "a probability above one": lambda: opinion(TRAINING, 1.2, 0.0, -0.2),
    "unfamiliar by less than nothing": lambda: opinion(unfamiliar_ratio=-0.1),
    "unfamiliar by more than all": lambda: opinion(unfamiliar_ratio=1.1),
    "unfamiliar by NaN": lambda: opinion(unfamiliar_ratio=NAN),
}


@pytest.mark.parametrize("make", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_bad_opinion_cannot_exist(make: Callable[[], object]):
    """Misuse is an exception when the value is made, not a surprise where it is used."""
    with pytest.raises(InvalidNounError):
        make()


@given(
    weights=st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3),
    answer=st.sampled_from([*WorkClass]),
    unfamiliar_ratio=st.floats(0, 1),
)
def test_shares_of_one_are_an_opinion_whatever_is_answered(
    weights: list[float], answer: WorkClass, unfamiliar_ratio: float
):
    """The answer need not be the likeliest: unknown may be likely, but unfamiliar."""
    shares = [weight / sum(weights) for weight in weights]

    held = opinion(answer, *shares, unfamiliar_ratio=unfamiliar_ratio)

    assert (held.answer, held.unfamiliar_ratio) == (answer, unfamiliar_ratio)


def test_unknown_needs_no_probabilities():
    """Where the signals do not allow an answer, none are made up."""
    assert ClassOpinion(WorkClass.UNKNOWN, {}, ("no signals",)).n_windows == 0


def test_unknown_is_not_a_class_that_work_can_be_of():
    """Words for scripts, stable; three that can be taught, in this order."""
    assert [*WorkClass] == ["training", "inference", "other", "unknown"]
    assert WorkClass.UNKNOWN not in KNOWN_CLASSES
    assert set(KNOWN_CLASSES) == {*WorkClass} - {WorkClass.UNKNOWN}
