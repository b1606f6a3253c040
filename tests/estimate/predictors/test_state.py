"""Fitted constants as plain values."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from estimate.made import NAN
from flopwitness.core.errors import CalibrationMismatchError
from flopwitness.estimate.predictors.linear import LinearState
from flopwitness.estimate.predictors.pipe_cycles import PipeSumState

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(rate=FINITE, debits=st.lists(FINITE, max_size=4))
def test_constants_survive_json_to_the_last_bit(rate: float, debits: list[float]):
    """Numbers and arrays, empty ones too, the sign of zero and the smallest numbers."""
    state = LinearState(rate, np.array(debits))

    read = LinearState.from_plain(json.loads(json.dumps(state.to_plain())))

    assert np.float64(read.flop_per_joule).tobytes() == np.float64(rate).tobytes()
    assert read.debits.tobytes() == state.debits.tobytes()
    assert_array_equal(read.debits, state.debits)


def test_a_state_without_constants_is_an_empty_mapping():
    """Nothing was fitted, nothing is kept, and it still predicts."""
    assert PipeSumState().to_plain() == {}
    assert PipeSumState.from_plain({}).predict([[1.0, 2.0]]).tolist() == [3.0]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda plain: plain.pop("debits"), "needs the constants"),
        (lambda plain: plain.update(surplus=1.0), "needs the constants"),
        (lambda plain: plain.update(flop_per_joule="1e12"), "flop_per_joule is to be a number"),
        (lambda plain: plain.update(flop_per_joule=None), "flop_per_joule is to be a number"),
        (lambda plain: plain.update(flop_per_joule=[1e12]), "flop_per_joule is to be a number"),
        (lambda plain: plain.update(flop_per_joule=True), "flop_per_joule holds what is no finite number"),
        (lambda plain: plain.update(flop_per_joule=NAN), "flop_per_joule holds what is no finite number"),
        (lambda plain: plain.update(debits=1.0), "debits is to be a list"),
        (lambda plain: plain.update(debits=[1.0, None]), "debits holds what is no finite number"),
        (lambda plain: plain.update(debits=["1.0"]), "debits holds what is no finite number"),
        (lambda plain: plain.update(debits=[float("inf")]), "debits holds what is no finite number"),
        (lambda plain: plain.update(debits=[[1.0], [1.0, 2.0]]), "LinearState"),
    ],
)
def test_other_constants_are_refused(spoil: Callable[[dict[str, object]], object], message: str):
    """One line that names the constant: a missing, unknown or blank one, a text, a list for a number."""
    plain = LinearState(1e12, np.array([1.0])).to_plain()
    spoil(plain)

    with pytest.raises(CalibrationMismatchError, match=message) as caught:
        LinearState.from_plain(plain)

    assert "\n" not in str(caught.value)
