"""Scores of a classifier of work: classes count alike, and unknown is neither right nor wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workclass import KNOWN_CLASSES, ClassOpinion, WorkClass
from flopwitness.evaluate.classification import (
    N_BINS,
    Answered,
    ClassShares,
    balanced_accuracy,
    class_shares,
    reliability,
)

TRAINING, INFERENCE, OTHER = KNOWN_CLASSES
UNKNOWN = WorkClass.UNKNOWN


def answered(
    truth: WorkClass,
    answer: WorkClass,
    *,
    likeliest: WorkClass | None = None,
    probability: float = 0.8,
    family: str = "dense",
) -> Answered:
    """Return an answer for one run; what was likeliest is what was answered where not said."""
    most = likeliest or (truth if answer is UNKNOWN else answer)
    rest = (1 - probability) / 2
    probabilities = {name: probability if name is most else rest for name in KNOWN_CLASSES}
    return Answered(truth, ClassOpinion(answer, probabilities, ("made",)), family, f"{family}-run")


def silent(truth: WorkClass) -> Answered:
    """Return a run that could not be asked about."""
    return Answered(truth, ClassOpinion(UNKNOWN, {}, ("no signals",)), "dense", "run")


ANSWERS = st.lists(
    st.builds(
        answered,
        st.sampled_from(KNOWN_CLASSES),
        st.sampled_from([*WorkClass]),
        probability=st.floats(0.34, 1.0),
        family=st.sampled_from("abc"),
    ),
    min_size=1,
    max_size=30,
)


def test_shares_are_what_a_hand_would_count():
    """Of four runs of training: two right, one wrong, one unknown whose likeliest class was right."""
    answers = [
        answered(TRAINING, TRAINING),
        answered(TRAINING, TRAINING),
        answered(TRAINING, OTHER),
        answered(TRAINING, UNKNOWN, likeliest=TRAINING, probability=0.5),
    ]

    shares = class_shares(answers)

    assert shares == {TRAINING: ClassShares(4, 0.5, 0.25, 0.25, 0.75)}
    assert shares[TRAINING].answered_ratio == pytest.approx(2 / 3)


@given(ANSWERS)
def test_right_unknown_and_wrong_are_all_there_is(answers: list[Answered]):
    """Shares of each class sum to one; classes that do not occur have none."""
    shares = class_shares(answers)

    assert set(shares) == {one.truth for one in answers}
    assert sum(one.n_runs for one in shares.values()) == len(answers)
    for one in shares.values():
        assert one.right_ratio + one.unknown_ratio + one.wrong_ratio == pytest.approx(1)
        assert min(one.right_ratio, one.unknown_ratio, one.wrong_ratio) >= 0


@given(ANSWERS)
def test_strictness_only_lowers_a_score(answers: list[Answered]):
    """Unknown counted as wrong is no better than left out, nor than a guess that may be right."""
    accuracy = balanced_accuracy(answers)

    assert accuracy.strict_ratio <= accuracy.forced_ratio + 1e-12
    assert not accuracy.answered_ratio < accuracy.strict_ratio - 1e-12


@given(answers=ANSWERS, times=st.integers(1, 5))
def test_more_runs_of_one_class_do_not_change_the_mean_over_classes(answers: list[Answered], times: int):
    """Classes count alike, however many runs they have."""
    first = [one for one in answers if one.truth is answers[0].truth]

    expected, more = balanced_accuracy(answers), balanced_accuracy(answers + first * times)

    assert more.strict_ratio == pytest.approx(expected.strict_ratio)
    assert more.answered_ratio == pytest.approx(expected.answered_ratio, nan_ok=True)
    assert more.unknown_ratio == pytest.approx(expected.unknown_ratio)


def test_a_guess_of_one_class_is_worth_a_third():
    """However many runs that class has."""
    answers = [answered(TRAINING, TRAINING)] * 98 + [
        answered(INFERENCE, TRAINING),
        answered(OTHER, TRAINING),
    ]

    accuracy = balanced_accuracy(answers)

    assert (accuracy.strict_ratio, accuracy.answered_ratio) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_a_class_without_an_answer_leaves_the_mean_of_answers_open():
    """Right among no answers is unknown, not none and not all."""
    accuracy = balanced_accuracy([answered(TRAINING, TRAINING), answered(OTHER, UNKNOWN)])

    assert np.isnan(accuracy.answered_ratio)
    assert (accuracy.strict_ratio, accuracy.unknown_ratio, accuracy.forced_ratio) == (0.5, 0.5, 1.0)


def test_a_run_that_could_not_be_asked_about_has_no_likeliest_class():
    """It is unknown, also where a guess is forced."""
    assert silent(TRAINING).likeliest is UNKNOWN
    assert balanced_accuracy([silent(TRAINING)]).forced_ratio == 0.0


def test_no_answer_has_no_accuracy():
    """A mean of nothing is not zero."""
    with pytest.raises(InvalidNounError, match="needs answers"):
        balanced_accuracy([])


def test_a_bin_compares_what_was_said_with_what_was_right():
    """Two bins by hand: 0.4 of which one of two was right, 0.9 of which all were."""
    answers = [
        answered(TRAINING, UNKNOWN, likeliest=TRAINING, probability=0.4),
        answered(TRAINING, UNKNOWN, likeliest=OTHER, probability=0.42),
        answered(OTHER, OTHER, probability=0.9),
    ]

    low, high = reliability(answers)

    assert (low.right_ratio, low.n_runs, low.mean_probability) == (0.5, 2, pytest.approx(0.41))
    assert (high.right_ratio, high.n_runs, high.mean_probability) == (1.0, 1, pytest.approx(0.9))
    assert (low.low_ratio, high.high_ratio) == (pytest.approx(1 / 3), 1.0)


def test_a_large_family_does_not_decide_a_bin():
    """Ninety-nine right runs of one family and one wrong run of another: half."""
    answers = [answered(TRAINING, TRAINING, family="large")] * 99
    answers.append(answered(TRAINING, INFERENCE, family="small"))

    (only,) = reliability(answers)

    assert (only.right_ratio, only.n_runs) == (pytest.approx(0.5), 100)


@given(ANSWERS)
def test_every_run_with_probabilities_is_in_one_bin(answers: list[Answered]):
    """The mean lies in its bin; certainty is in the last."""
    bins = reliability([*answers, silent(OTHER)])

    assert sum(one.n_runs for one in bins) == len(answers)
    assert len(bins) <= N_BINS
    for one in bins:
        assert one.low_ratio - 1e-9 <= one.mean_probability <= one.high_ratio + 1e-9
        assert 0 <= one.right_ratio <= 1


def test_nothing_said_fills_no_bin():
    """Neither of no runs nor of runs that could not be asked about."""
    assert reliability([]) == reliability([silent(OTHER)]) == ()
