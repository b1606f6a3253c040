"""From windows to an opinion: sure only where it can be, and always with the reason."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimate.classify.made_work import CHIP, STEADY, made_classifier, made_state, made_windows, work
from estimate.made import GPU_A, GPU_B, session_of
from flopwitness.core.device import Device
from flopwitness.core.errors import CalibrationMismatchError
from flopwitness.core.workclass import KNOWN_CLASSES, ClassOpinion, WorkClass
from flopwitness.estimate.classify.opinion import (
    FASTEST_RHYTHM_SECONDS,
    FLOOR,
    MIN_PROBABILITY,
    Classifier,
    Seen,
    judged,
    opinion_of,
    seen_in,
    weighed,
)
from flopwitness.estimate.classify.windows import COLUMNS, LEVELS, windows_of

CLASSIFIER = made_classifier()
FIRST = st.lists(st.floats(-5, 5), min_size=1, max_size=20)
AMID = Classifier(
    CHIP,
    *(
        replace(made_state(columns), mean=windows_of(session_of(work())).values[0, : len(columns)] + 1.0)
        for columns in (COLUMNS, LEVELS)
    ),
)
"""Standardises steady work to -1 in every column: training, and far from all that was seen."""


def reason(opinion: ClassOpinion) -> str:
    """Return all reasons as one text."""
    return " ".join(opinion.reasons)


@pytest.mark.parametrize(
    ("first", "answer"), [(-1.0, WorkClass.TRAINING), (1.0, WorkClass.INFERENCE), (5.0, WorkClass.OTHER)]
)
def test_the_likeliest_class_is_the_answer(first: float, answer: WorkClass):
    """Where it is likely enough and near to what was seen."""
    opinion = weighed(made_windows(first, first, first), CLASSIFIER)

    assert opinion.answer is answer
    assert opinion.probabilities[answer] > MIN_PROBABILITY
    assert (opinion.n_windows, opinion.unfamiliar_ratio) == (3, 0.0)
    assert opinion.reasons == (f"3 of 3 windows look like {answer}",)


@settings(deadline=None)
@given(first=FIRST, second=st.floats(-1, 1), step=st.floats(0.05, 2.0))
def test_an_opinion_gives_the_probability_of_every_class(first: list[float], second: float, step: float):
    """Whether or not one is likely enough; a class that is answered is the likeliest and likely enough."""
    opinion = weighed(made_windows(*first, second=second, step_seconds=step), CLASSIFIER)

    assert tuple(opinion.probabilities) == KNOWN_CLASSES
    assert sum(opinion.probabilities.values()) == pytest.approx(1)
    if opinion.answer is not WorkClass.UNKNOWN:
        assert opinion.probabilities[opinion.answer] == max(opinion.probabilities.values()) >= MIN_PROBABILITY


@settings(deadline=None)
@given(first=FIRST, times=st.integers(2, 50))
def test_a_longer_session_of_the_same_windows_is_not_surer(first: list[float], times: int):
    """Windows of one program are not independent evidence."""
    short = weighed(made_windows(*first), CLASSIFIER)
    long = weighed(made_windows(*first * times), CLASSIFIER)

    assert long.probabilities == pytest.approx(short.probabilities)
    assert long.unfamiliar_ratio == pytest.approx(short.unfamiliar_ratio)
    assert long.n_windows == times * short.n_windows


@settings(deadline=None)
@given(first=st.lists(st.floats(-5, 5), min_size=2, max_size=20), step=st.floats(0.05, 2.0), data=st.data())
def test_what_was_seen_piece_by_piece_adds_up_to_the_whole(
    first: list[float], step: float, data: st.DataObject
):
    """A daemon that remembers sums, not windows, has the opinion of one who saw the session at once."""
    cut = data.draw(st.integers(1, len(first) - 1))

    one, other = (
        seen_in(made_windows(*part).values, step, CLASSIFIER) for part in (first[:cut], first[cut:])
    )

    summed = judged(Seen(*(a + b for a, b in zip(one, other, strict=True))))
    whole = weighed(made_windows(*first, step_seconds=step), CLASSIFIER)
    assert summed.probabilities == pytest.approx(whole.probabilities)
    assert (summed.n_windows, summed.unfamiliar_ratio) == (whole.n_windows, whole.unfamiliar_ratio)


@settings(deadline=None)
@given(first=FIRST, seed=st.integers(0, 99))
def test_the_order_of_windows_does_not_matter(first: list[float], seed: int):
    """The same windows, the same opinion."""
    shuffled = np.random.default_rng(seed).permutation(first).tolist()

    one, other = (weighed(made_windows(*values), CLASSIFIER) for values in (first, shuffled))

    assert other.probabilities == pytest.approx(one.probabilities)


def test_no_window_has_a_veto():
    """One window that is certain of another class does not outweigh nineteen that are fairly sure."""
    sharp = Classifier(CHIP, made_state(COLUMNS, sharpness=500.0), made_state(LEVELS))
    certain = sharp.with_rhythm.log_probabilities(made_windows(1.0).values)[0, 0]

    opinion = weighed(made_windows(*[-0.01] * 19, 1.0), sharp)

    assert certain < 10 * np.log(FLOOR)
    assert opinion.answer is WorkClass.TRAINING
    assert opinion.reasons == ("19 of 20 windows look like training; 1 of 20 windows look like inference",)


def test_not_likely_enough_is_unknown():
    """On the border of two classes; how likely the likeliest is stands in the reason."""
    opinion = weighed(made_windows(-0.05), CLASSIFIER)

    assert opinion.answer is WorkClass.UNKNOWN
    assert opinion.probabilities[WorkClass.TRAINING] == pytest.approx(0.6, abs=0.02)
    assert "training is likeliest at 60 %, which is not enough" in opinion.reasons


@pytest.mark.parametrize(
    ("n_far", "answer"), [(0, WorkClass.TRAINING), (4, WorkClass.TRAINING), (6, WorkClass.UNKNOWN)]
)
def test_windows_unlike_all_that_was_learned_are_unknown(n_far: int, answer: WorkClass):
    """From half of ten on, however sure the form is of them."""
    near, far = made_windows(*[-1.0] * (10 - n_far)), made_windows(*[-1.0] * n_far, second=9.0)
    windows = near._replace(values=np.vstack([near.values, far.values]))

    opinion = weighed(windows, CLASSIFIER)

    assert opinion.answer is answer
    assert opinion.unfamiliar_ratio == n_far / 10
    assert ("60 % of its windows are unlike" in reason(opinion)) == (n_far == 6)
    assert opinion.probabilities[WorkClass.TRAINING] > MIN_PROBABILITY


def test_slow_samples_ask_the_levels_alone():
    """Means over several steps show no rhythm: then the other form answers, which knows no such column."""
    torn = Classifier(
        CHIP, made_state(COLUMNS), replace(made_state(LEVELS), mean=np.full(5, 2.0) * np.eye(5)[0])
    )

    fast, slow = (
        weighed(made_windows(1.0, step_seconds=step), torn)
        for step in (FASTEST_RHYTHM_SECONDS, FASTEST_RHYTHM_SECONDS + 0.01)
    )

    assert (fast.answer, slow.answer) == (WorkClass.INFERENCE, WorkClass.TRAINING)


def test_the_rhythm_says_nothing_of_slow_samples():
    """Whatever the column holds."""
    windows = made_windows(1.0, step_seconds=1.0)
    other = windows._replace(values=windows.values + 100.0 * np.eye(6)[-1])

    assert weighed(other, CLASSIFIER) == weighed(windows, CLASSIFIER)


def test_a_session_is_asked_by_its_windows():
    """Cut, weighed, answered."""
    session = session_of(work(63), work(63, device=GPU_B))

    assert opinion_of(session, AMID) == weighed(windows_of(session), AMID)
    assert opinion_of(session, AMID).n_windows == 6
    assert opinion_of(session, AMID).probabilities[WorkClass.TRAINING] > MIN_PROBABILITY


MIXED = session_of(work(), work(device=Device("GPU-c", chip="B200")))
UNASKED: dict[str, tuple[Callable[[], ClassOpinion], str]] = {
    "no classifier": (lambda: opinion_of(session_of(work()), None), "no classifier was fitted for H200-SXM"),
    "another chip": (
        lambda: opinion_of(session_of(work(device=Device("GPU-c", chip="B200"))), AMID),
        "no classifier was fitted for B200",
    ),
    "several chips": (lambda: opinion_of(MIXED, AMID), "no classifier was fitted for B200, H200-SXM"),
    "a missing signal": (
        lambda: opinion_of(session_of(work(int_active_ratio=None)), AMID),
        "the source does not give int_active_ratio",
    ),
    "two missing signals": (
        lambda: opinion_of(session_of(work(int_active_ratio=None, sm_active_ratio=None)), AMID),
        "the source does not give sm_active_ratio, int_active_ratio",
    ),
    "nothing but rest": (
        lambda: opinion_of(session_of(work(sm_active_ratio=0.01)), AMID),
        "too few samples at work to tell its kind",
    ),
    "too few samples": (
        lambda: opinion_of(session_of(work(5)), AMID),
        "too few samples at work to tell its kind",
    ),
}


@pytest.mark.parametrize(("ask", "why"), UNASKED.values(), ids=UNASKED)
def test_what_cannot_be_asked_is_unknown_with_the_reason(ask: Callable[[], ClassOpinion], why: str):
    """No probabilities are made up: ignorance is an answer."""
    assert ask() == ClassOpinion(WorkClass.UNKNOWN, {}, (why,))


def test_a_classifier_comes_back_from_plain_values():
    """The chip and both forms."""
    read = Classifier.from_plain(CLASSIFIER.to_plain())

    assert read.chip == CHIP
    assert read.to_plain() == CLASSIFIER.to_plain()
    assert weighed(made_windows(-1.0), read) == weighed(made_windows(-1.0), CLASSIFIER)


SPOILT: dict[str, Callable[[dict[str, Any]], object]] = {
    **{
        f"without {name}": lambda held, name=name: held.pop(name)
        for name in ("chip", "with_rhythm", "levels_alone")
    },
    **{
        f"{name} is {value!r}": lambda held, name=name, value=value: held.update({name: value})
        for name in ("with_rhythm", "levels_alone")
        for value in (None, [], "text")
    },
    **{
        f"{name} without mean": lambda held, name=name: held[name].pop("mean")
        for name in ("with_rhythm", "levels_alone")
    },
    "forms swapped": lambda held: held.update(
        with_rhythm=held["levels_alone"], levels_alone=held["with_rhythm"]
    ),
    "another column": lambda held: held["with_rhythm"]["columns"].__setitem__(0, "watts"),
    "columns in another order": lambda held: held["levels_alone"]["columns"].reverse(),
    "columns as one text": lambda held: held["levels_alone"].update(columns="abcde"),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_classifier_of_other_columns_or_half_a_one_is_refused(spoil: Callable[[dict[str, Any]], object]):
    """Constants mean nothing without the columns that they multiply."""
    held = CLASSIFIER.to_plain()
    spoil(held)

    with pytest.raises(CalibrationMismatchError, match="classifier") as caught:
        Classifier.from_plain(held)

    assert "\n" not in str(caught.value)


def test_steady_work_names_every_signal():
    """The made-up session lacks nothing, or half of these tests would pass for a wrong reason."""
    assert windows_of(session_of(work(device=GPU_A))).missing == ()
    assert len(STEADY) == 6
