"""Which formats stay open: for the point, for the interval, and for the bound against hostile workloads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from flopwitness.estimate.predictors.format_choice import (
    GATE_MISFIT,
    HALF_SHARE,
    IDENTIFIED,
    KINDS,
    PLAUSIBLE,
    FormatChoice,
    chosen_formats,
)
from flopwitness.physics.components import CAST_FORMATS, FORMATS

N = 1 + len(FORMATS)
HALF = 0
FP8, FP8_FAST, TF32 = (1 + FORMATS.index(name) for name in ("fp8", "fp8-fast", "tf32"))
LIMITS = np.full(N, 20.0)
BEYOND_GATE = GATE_MISFIT + 1
UNKNOWN = (np.inf, -np.inf)
"""Misfit and evidence of a format that was never learned."""


def choice(known: dict[int, tuple[float, float]], limits: np.ndarray = LIMITS) -> FormatChoice:
    """Choose for one session from misfit and evidence of each format; those not given were never learned."""
    table = np.array([[known.get(number, UNKNOWN) for number in range(N)]])
    return chosen_formats(table[..., 0], table[..., 1], limits)


def opened(mask: np.ndarray) -> set[int]:
    """Return the formats of the one session that a mask holds."""
    return set(np.flatnonzero(mask[0]).tolist())


@pytest.mark.parametrize("misfit", [0.0, GATE_MISFIT])
def test_what_half_precision_explains_well_is_half_precision(misfit: float):
    """However much better another format fits: the point accuses nobody of work in it."""
    found = choice({HALF: (misfit, -10.0), FP8: (0.1, 10.0)})

    assert found.probability.tolist() == found.weight.tolist() == [[1.0, 0.0, 0.0, 0.0]]
    assert found.is_identified.tolist() == [True]
    assert opened(found.is_plausible) == {HALF}


def test_whoever_hides_chooses_the_format():
    """With half precision given no preference, what fits as well is possible, also below the gate."""
    found = choice({HALF: (5.0, -3.0), FP8: (0.1, 0.0), TF32: (5.0, -3.1)})

    assert opened(found.is_plausible) == {HALF}
    assert opened(found.is_possible) == {HALF, FP8, TF32}


def test_what_does_not_explain_the_signals_is_not_possible():
    """Unless it is plausible, as the lesser evil."""
    found = choice({HALF: (5.0, -3.0), FP8: (LIMITS[FP8] + 1, 0.0)})

    assert opened(found.is_possible) == {HALF}


def test_another_format_must_be_nearly_certain():
    """Beyond the gate the odds are nine of ten for half precision before the signals speak."""
    odds = np.log(HALF_SHARE / ((1 - HALF_SHARE) / len(FORMATS)))
    needed = odds + np.log(IDENTIFIED / (1 - IDENTIFIED))

    just, short = (choice({HALF: (BEYOND_GATE, 0.0), FP8: (1.0, needed + more)}) for more in (0.001, -0.001))

    assert (just.is_identified.tolist(), short.is_identified.tolist()) == ([True], [False])
    assert just.weight[0, FP8] == 1.0
    assert short.weight[0].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert opened(short.is_plausible) == opened(just.is_plausible) == {HALF, FP8}


def test_in_doubt_that_half_precision_does_not_explain_nothing_is_known():
    """No weight at all: what answers then is the constant, and bounds cover every format."""
    limits = np.array([GATE_MISFIT, *LIMITS[1:]])

    found = choice({HALF: (BEYOND_GATE, 0.0), FP8: (1.0, 4.0)}, limits)

    assert not found.is_identified[0]
    assert found.weight.sum() == 0


def test_formats_with_casts_are_one_kind():
    """Which of the two accumulations it was hardly changes the FLOP: together they are certain enough."""
    found = choice({HALF: (BEYOND_GATE, -20.0), FP8: (1.0, 0.0), FP8_FAST: (1.0, 0.0), TF32: (9.0, -20.0)})

    assert found.is_identified.tolist() == [True]
    assert_allclose(found.weight[0], [0, 0.5, 0.5, 0], atol=1e-6)
    assert (KINDS[[FP8, FP8_FAST]] == KINDS[FP8]).all()
    assert len(set(KINDS.tolist())) == N - len(CAST_FORMATS) + 1


def test_the_point_rests_on_what_explains_the_signals():
    """The member of a kind that does not is left out of it; its kind stays identified."""
    found = choice({HALF: (99.0, -20.0), FP8: (21.0, 0.0), FP8_FAST: (1.0, 0.0)})

    assert found.is_identified.tolist() == [True]
    assert found.weight[0].tolist() == [0.0, 0.0, 1.0, 0.0]


def test_where_nothing_explains_the_signals_nothing_is_identified():
    """The best of bad explanations is none, however certain it is among them."""
    found = choice({HALF: (99.0, -20.0), FP8: (50.0, 0.0)})

    assert not found.is_identified[0]
    assert found.weight.sum() == 0


def test_without_other_formats_half_precision_is_all_there_is():
    """A calibration of half precision alone."""
    found = choice({HALF: (BEYOND_GATE, -3.0)})

    assert found.probability.tolist() == [[1.0, 0.0, 0.0, 0.0]]
    assert opened(found.is_possible) == {HALF}


PAIRS = st.tuples(st.floats(0, 100), st.floats(-50, 50)) | st.just(UNKNOWN)


@given(half=st.tuples(st.floats(0, 100), st.floats(-50, 50)), others=st.tuples(*[PAIRS] * (N - 1)))
def test_every_choice_obeys_its_laws(half: tuple[float, float], others: tuple[tuple[float, float], ...]):
    """Probabilities sum to 1, the point rests on what explains the signals, what is plausible is possible."""
    found = choice(dict(enumerate((half, *others))))
    misfit = np.array([[pair[0] for pair in (half, *others)]])

    assert found.probability.sum() == pytest.approx(1.0)
    assert found.weight.sum() == pytest.approx(1.0) or found.weight.sum() == 0
    assert (misfit[found.weight > 0] <= LIMITS[0]).all()
    assert (found.is_possible | ~found.is_plausible).all()
    assert found.weight.sum() > 0 or not found.is_identified[0]
    assert (found.probability[found.is_plausible] >= PLAUSIBLE).all()
