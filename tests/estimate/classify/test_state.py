"""A fitted classifier as plain values: the same answers after a file, and no answer from a broken one."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_allclose, assert_array_equal

from estimate.classify.made_work import drawn_state, made_state
from flopwitness.core.errors import CalibrationMismatchError
from flopwitness.estimate.classify.state import BLOCK, NEIGHBOURS, ClassState, terms
from flopwitness.estimate.classify.windows import COLUMNS, LEVELS

WINDOWS = npst.arrays(np.float64, st.tuples(st.integers(0, 20), st.just(6)), elements=st.floats(-10, 10))


def plain(state: ClassState) -> dict[str, Any]:
    """Return what a file holds of a state, a fresh copy each time."""
    return json.loads(json.dumps(state.to_plain(), allow_nan=False))


@settings(deadline=None)
@given(values=WINDOWS, seed=st.integers(0, 9))
def test_probabilities_sum_to_one(values: np.ndarray, seed: int):
    """Of each window, however far from everything it is."""
    probabilities = np.exp(drawn_state(seed).log_probabilities(values))

    assert probabilities.shape == (len(values), 3)
    assert_allclose(probabilities.sum(axis=1), 1)


def test_the_first_column_decides_what_it_was_told_to():
    """Constants by hand: training below zero, inference above, other far out; in this order."""
    logs = made_state().log_probabilities(np.eye(6)[:1] * np.array([[-1.0], [1.0], [5.0]]))

    assert logs.argmax(axis=1).tolist() == [0, 1, 2]


@settings(deadline=None)
@given(values=WINDOWS, temperature=st.floats(1.0, 10.0))
def test_a_temperature_makes_less_sure_and_changes_no_order(values: np.ndarray, temperature: float):
    """Logits are divided by it: probabilities in the same order, and the likeliest is not likelier."""
    cold = replace(drawn_state(), temperature=1.0)

    before, after = (one.log_probabilities(values) for one in (cold, replace(cold, temperature=temperature)))

    powers = np.exp(before / temperature)
    assert_allclose(np.exp(after), powers / powers.sum(axis=1, keepdims=True), atol=1e-9)
    assert (after.max(axis=1, initial=-np.inf) <= before.max(axis=1, initial=-np.inf) + 1e-9).all()


@settings(deadline=None)
@given(values=WINDOWS, seed=st.integers(0, 9))
def test_a_file_gives_the_same_answers(values: np.ndarray, seed: int):
    """Probabilities bit for bit; distances to the four digits that a file keeps of what was seen."""
    state = drawn_state(seed)

    read = ClassState.from_plain(plain(state))

    assert_array_equal(read.log_probabilities(values), state.log_probabilities(values))
    assert_allclose(read.distances(values), state.distances(values), atol=2e-4)
    assert read.to_plain() == ClassState.from_plain(plain(read)).to_plain()


def test_terms_are_columns_and_their_products_each_pair_once():
    """First the columns, then the products, squares among them."""
    assert terms(np.array([[2.0, 3.0, 5.0]])).tolist() == [[2, 3, 5, 4, 6, 10, 9, 15, 25]]


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(0, 5))
def test_n_columns_have_n_and_n_times_n_plus_one_over_two_terms(n_columns: int, n_windows: int):
    """As many as a form has weights."""
    assert terms(np.ones((n_windows, n_columns))).shape == (n_windows, n_columns * (n_columns + 3) // 2)


def test_a_distance_is_that_to_the_third_nearest_over_the_reach():
    """One stray window vouches for nothing; columns count in deviations."""
    references = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [30.0, 40.0]])
    state = replace(
        drawn_state(columns=("a", "b")),
        mean=np.array([1.0, 1.0]),
        deviation=np.array([2.0, 2.0]),
        references=references,
        reach=4.0,
    )

    assert_allclose(state.distances(np.array([[1.0, 1.0]])), [10.0 / 4.0])


def test_what_was_seen_is_within_reach_and_what_is_far_is_not():
    """Every reference of a dense set; nothing ten reaches away from it."""
    state = made_state()

    assert (state.distances(state.references) < 1).all()
    assert (state.distances(state.references + 10 * state.reach * np.eye(6)[1]) > 1).all()


def test_how_many_windows_are_asked_at_once_changes_no_distance():
    """Blocks are there for memory alone."""
    state = drawn_state()
    values = np.random.default_rng(0).normal(size=(2 * BLOCK + 7, 6))

    at_once = state.distances(values)

    in_parts = [state.distances(part) for part in np.array_split(values, 13)]
    assert_allclose(at_once, np.concatenate(in_parts), atol=1e-6)


def test_no_window_has_no_distance():
    """An empty answer, not an error."""
    assert drawn_state().distances(np.empty((0, 6))).shape == (0,)


NAMES = tuple(one.name for one in fields(ClassState))

SPOILT: dict[str, Callable[[dict[str, Any]], object]] = {
    **{f"without {name}": lambda held, name=name: held.pop(name) for name in NAMES},
    **{f"{name} is null": lambda held, name=name: held.update({name: None}) for name in NAMES},
    **{f"{name} is text": lambda held, name=name: held.update({name: "many"}) for name in NAMES},
    **{
        f"{name} holds a text": lambda held, name=name: held[name].__setitem__(0, "many")
        for name in ("mean", "deviation", "weights", "intercepts", "references")
    },
    **{
        f"{name} lacks one": lambda held, name=name: held[name].pop()
        for name in ("columns", "mean", "deviation", "weights", "intercepts")
    },
    **{
        f"{name} is infinite": lambda held, name=name: held.update({name: float("inf")})
        for name in ("temperature", "reach")
    },
    **{
        f"{name} is {value}": lambda held, name=name, value=value: held.update({name: value})
        for name in ("temperature", "reach")
        for value in (0.0, -1.0, float("nan"))
    },
    **{
        f"{name} holds NaN": lambda held, name=name: held[name].__setitem__(0, float("nan"))
        for name in ("mean", "deviation", "intercepts")
    },
    "a weight is NaN": lambda held: held["weights"][0].__setitem__(0, float("nan")),
    "a weight lacks": lambda held: held["weights"][0].pop(),
    "a reference is infinite": lambda held: held["references"][0].__setitem__(0, float("inf")),
    "a reference lacks a column": lambda held: held["references"][0].pop(),
    "all references lack a column": lambda held: [row.pop() for row in held["references"]],
    "too few references": lambda held: held["references"].__delitem__(slice(NEIGHBOURS - 1, None)),
    "a deviation of zero": lambda held: held["deviation"].__setitem__(0, 0.0),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
@pytest.mark.parametrize("columns", [COLUMNS, LEVELS], ids=["with rhythm", "levels alone"])
def test_a_broken_file_is_refused_in_one_line(
    spoil: Callable[[dict[str, Any]], object], columns: tuple[str, ...]
):
    """Whatever is missing, of another shape, or no number."""
    held = plain(drawn_state(columns=columns))
    spoil(held)

    with pytest.raises(CalibrationMismatchError, match="not a complete classifier") as caught:
        ClassState.from_plain(held)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("held", [None, [], "text", 5, {}])
def test_what_is_no_object_of_constants_is_refused(held: Any):
    """A list, a text and nothing are not half a classifier."""
    with pytest.raises(CalibrationMismatchError, match="not a complete classifier"):
        ClassState.from_plain(held)
