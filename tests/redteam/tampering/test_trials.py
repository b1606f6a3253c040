"""How strong a tampering must be to matter, and how often it is found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.redteam.tampering.trials import N_HALVINGS, Trial, found_share, strength_moving


@given(slope=st.floats(0.11, 50.0))
def test_the_strength_found_moves_the_estimate_far_enough_and_little_more(slope: float):
    """Within what the halving can tell apart."""
    strength, moved = strength_moving(lambda share: slope * share, 1.0)

    assert moved >= 0.1
    assert strength - 0.1 / slope <= 2.0**-N_HALVINGS


def test_where_nothing_moves_it_the_greatest_strength_is_the_answer():
    """And says how far it moves."""
    assert strength_moving(lambda share: 0.02 * share, 3.0) == (3.0, 0.06)


def test_an_estimate_that_is_gone_has_moved():
    """Not a number is no small change."""
    strength, _ = strength_moving(lambda share: float("nan") if share > 0.5 else 0.0, 1.0)

    assert strength == pytest.approx(0.5, abs=0.01)


def test_trials_with_any_finding_count_as_found():
    """An interval comes with the share."""
    trials = [
        Trial("drop", "", "", 0.1 * n, 0.1, frozenset({"missing-samples"} if n < 3 else ())) for n in range(4)
    ]
    share = found_share(trials)

    assert (share.n_found, share.n_trials) == (3, 4)
    assert share.low_ratio < 0.75 < share.high_ratio


def test_no_trials_say_nothing():
    """Anything between nothing and all."""
    share = found_share([])

    assert (share.low_ratio, share.high_ratio, share.n_trials) == (0.0, 1.0, 0)
