"""Fitting a classifier: families count alike, and what it promises holds for families that were left out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from flopwitness.core.errors import BadInputError
from flopwitness.core.workclass import KNOWN_CLASSES, WorkClass
from flopwitness.estimate.classify.fitting import (
    MAX_REFERENCES,
    N_FOLDS,
    Lessons,
    fitted_classifier,
    fitted_state,
)
from flopwitness.estimate.classify.opinion import Classifier, weighed
from flopwitness.estimate.classify.state import ClassState
from flopwitness.estimate.classify.windows import COLUMNS, LEVELS, Windows

CENTRES = {"training": 2.0, "inference": -2.0, "other": 0.0}
N_FAMILIES = 5
N_WINDOWS = 12
"""Of a workload."""


def made_lessons(*, seed: int = 0, spread: float = 0.4, n_families: int = N_FAMILIES) -> Lessons:
    """Return three classes side by side along the first column, other work apart along the second.

    Families lie around their class, two workloads around each family, windows around each workload.
    """
    rng = np.random.default_rng(seed)
    values, labels = [], []
    for name, centre in CENTRES.items():
        for family in range(n_families):
            middle = np.array([centre, 3.0 if name == "other" else 0.0, 0, 0, 0, 0])
            middle = middle + rng.normal(0, spread, 6)
            for workload in range(2):
                values.append(
                    middle + rng.normal(0, spread / 2, 6) + rng.normal(0, spread / 2, (N_WINDOWS, 6))
                )
                label = (name, f"{name}-{family}", f"{name}-{family}-{workload}")
                labels += [label] * N_WINDOWS
    classes, families, workloads = np.array(labels).T
    return Lessons(np.concatenate(values), classes, families, workloads)


LESSONS = made_lessons()
CLASSIFIER = fitted_classifier(LESSONS, "H200-SXM")
FORMS = pytest.mark.parametrize(
    "state", [CLASSIFIER.with_rhythm, CLASSIFIER.levels_alone], ids=["six", "five"]
)


def joined(*parts: Lessons) -> Lessons:
    """Return some lessons after each other."""
    names = ("values", "classes", "families", "workloads")
    return Lessons(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


LABELS = st.lists(
    st.tuples(st.sampled_from(list(CENTRES)), st.sampled_from("ab"), st.sampled_from("xyz")),
    min_size=1,
    max_size=30,
)


@settings(deadline=None)
@given(labels=LABELS)
def test_families_count_alike_however_many_runs_they_have(labels: list[tuple[str, str, str]]):
    """Classes have one weight, in each of them its families, in these their workloads, in these windows."""
    classes, families, workloads = np.array(labels).T
    lessons = Lessons(np.zeros((len(labels), 6)), classes, families, workloads)

    weights = lessons.weights()

    assert weights.mean() == pytest.approx(1)
    for inner, outer in ((1, 0), (2, 1), (3, 2)):
        keys = [(*label, number)[: inner + 1] for number, label in enumerate(labels)]
        sums = {key: weights[[one == key for one in keys]].sum() for key in set(keys)}
        for parent in {key[: outer + 1] for key in keys}:
            of_parent = [total for key, total in sums.items() if key[: outer + 1] == parent]
            assert_allclose(of_parent, of_parent[0])


def test_more_runs_of_a_workload_change_no_other_weight():
    """Ten times the windows of one workload weigh what they weighed before."""
    first = LESSONS.workloads == LESSONS.workloads[0]
    more = joined(*[LESSONS.take(first)] * 9, LESSONS)

    weights = more.weights()

    scale = len(LESSONS.values) / len(more.values)
    assert_allclose(scale * weights[-len(first) :][~first], LESSONS.weights()[~first])
    assert scale * weights[more.workloads == LESSONS.workloads[0]].sum() == pytest.approx(
        LESSONS.weights()[first].sum()
    )


def test_what_was_repeated_teaches_next_to_nothing():
    """A family that was run three times as often moves no mean, and hardly a probability."""
    family = LESSONS.take(LESSONS.families == "training-0")
    state = CLASSIFIER.levels_alone

    again = fitted_state(joined(LESSONS, family, family), LEVELS)

    values = LESSONS.values[:, : len(LEVELS)]
    assert_allclose(again.mean, state.mean)
    assert_allclose(again.deviation, state.deviation)
    before, after = (np.exp(one.log_probabilities(values)) for one in (state, again))
    assert_allclose(after, before, atol=0.02)


@pytest.mark.parametrize("family", ["training-1", "inference-2", "other-3"])
def test_separable_classes_are_told_apart_by_families_that_were_left_out(family: str):
    """Both forms know a family that they have not seen by those that lie around it."""
    held = LESSONS.families == family

    fitted = fitted_classifier(LESSONS.take(~held), "H200-SXM")

    for step_seconds in (0.1, 1.0):
        opinion = weighed(Windows(LESSONS.values[held], step_seconds, ()), fitted)
        assert opinion.answer == family.partition("-")[0]
        assert opinion.unfamiliar_ratio < 0.5


def test_work_far_from_all_that_was_taught_is_unknown():
    """However sure a form is so far out."""
    far = np.full((10, 6), 30.0)

    opinion = weighed(Windows(far, 0.1, ()), CLASSIFIER)

    assert (opinion.answer, opinion.unfamiliar_ratio) == (WorkClass.UNKNOWN, 1.0)


@FORMS
def test_what_was_taught_is_familiar(state: ClassState):
    """Nearly all windows of training and inference lie within reach."""
    near = LESSONS.classes != "other"

    distances = state.distances(LESSONS.values[near][:, : len(state.columns)])

    assert (distances < 1).mean() > 0.95


@pytest.mark.parametrize("spread", [0.1, 0.4, 2.0])
def test_a_temperature_is_at_least_one(spread: float):
    """Families that were left out make a form less sure, never surer."""
    assert fitted_state(made_lessons(spread=spread), COLUMNS).temperature >= 1


def test_families_that_lie_about_their_class_make_it_less_sure():
    """Families of one class among those of another: what was left out was wrong, so the temperature is up."""
    misled = replace(LESSONS, values=LESSONS.values.copy())
    for family, centre in (("training-0", -2.0), ("inference-0", 2.0)):
        misled.values[misled.families == family, 0] += centre - CENTRES[family.partition("-")[0]]

    assert fitted_state(misled, COLUMNS).temperature > 1.1 * CLASSIFIER.with_rhythm.temperature


@FORMS
def test_a_state_keeps_a_few_windows_of_each_workload(state: ClassState):
    """Evenly over its run; standardised as the columns are."""
    assert state.references.shape == (len(np.unique(LESSONS.workloads)) * MAX_REFERENCES, len(state.columns))
    first = LESSONS.values[0, : len(state.columns)]
    standardised = (first - state.mean) / state.deviation
    assert np.abs(state.references - standardised).sum(axis=1).min() < 1e-9


def test_two_forms_are_fitted_on_the_same_windows():
    """One with the rhythm, one without; the chip is remembered."""
    assert CLASSIFIER.chip == "H200-SXM"
    assert (CLASSIFIER.with_rhythm.columns, CLASSIFIER.levels_alone.columns) == (COLUMNS, LEVELS)
    assert_array_equal(CLASSIFIER.with_rhythm.mean[: len(LEVELS)], CLASSIFIER.levels_alone.mean)


def test_what_was_fitted_comes_back_from_plain_values():
    """No constant is what a file cannot hold."""
    read = Classifier.from_plain(CLASSIFIER.to_plain())

    values = LESSONS.values
    assert_allclose(
        read.with_rhythm.log_probabilities(values), CLASSIFIER.with_rhythm.log_probabilities(values)
    )


@pytest.mark.parametrize("missing", [name.value for name in KNOWN_CLASSES])
def test_a_missing_class_is_refused(missing: str):
    """What was never seen cannot be told from the rest."""
    with pytest.raises(BadInputError, match="training, inference and other work of 2 families or more"):
        fitted_classifier(LESSONS.take(LESSONS.classes != missing), "H200-SXM")


def test_a_class_of_one_family_is_refused():
    """Left out, it leaves nothing to learn its class from."""
    rows = (LESSONS.classes != "other") | (LESSONS.families == "other-0")

    with pytest.raises(BadInputError, match=f"got 5, 5, 1, {2 * N_FAMILIES + 1} in all"):
        fitted_classifier(LESSONS.take(rows), "H200-SXM")


def test_fewer_families_than_folds_are_refused():
    """Each fold leaves out a family."""
    few = made_lessons(n_families=2)

    with pytest.raises(BadInputError, match=f"{N_FOLDS} or more in all"):
        fitted_classifier(few, "H200-SXM")
