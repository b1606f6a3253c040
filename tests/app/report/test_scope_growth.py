"""Running sums end where the account ends, only grow, and are never narrower than it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.report.scope_made import account_of, scope_content_of, session_of, watches
from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_growth import growth_of, growth_plate


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(1e12, 1e24)), min_size=1, max_size=9))
def test_sums_end_at_the_account_and_only_grow(runs: list[tuple[float, float]]):
    """Whatever ran: nothing is lost, nothing is taken back."""
    sessions = [
        session_of(f"s{place}", (place, place + length), flop=flop)
        for place, (length, flop) in enumerate(runs)
    ]
    content = ScopeContent("Runs", account_of(sessions, watches()), watches())

    growth = growth_of(content)

    ends = [one[-1] for one in (growth.low_flop, growth.point_flop, growth.high_flop)]
    seen = content.account.observed
    assert ends == pytest.approx([seen.low_flop, seen.point_flop, seen.high_flop])
    assert growth.unseen_flop[-1] == pytest.approx(content.account.unobserved_flop)
    sums = np.array([growth.low_flop, growth.point_flop, growth.high_flop, growth.unseen_flop])
    assert (np.diff(sums) >= -1e-9 * sums[:, -1:]).all()
    assert (sums[:, 0] == 0).all()


def test_what_nobody_saw_comes_in_while_nobody_watched():
    """Both devices were watched in the first two hours; a session without an estimate counts as unseen."""
    content = scope_content_of()
    growth = growth_of(content)
    hours = (growth.time_ns - growth.time_ns[0]) / 3.6e12

    assert growth.unseen_flop[hours <= 2].max() == 0
    assert growth.unseen_flop[-1] == pytest.approx(content.account.unobserved_flop)


def test_an_unknown_ceiling_is_said_not_drawn():
    """There is no place for infinity."""
    content = ScopeContent("Unwatched", account_of((session_of("s1", (1, 2)),), ()))

    plate = growth_plate(content, ident="growth")

    assert growth_of(content).unseen_flop.max() == 0
    assert "What nobody saw has no bound and is not drawn." in plate.caption


def test_what_nobody_saw_does_not_squash_what_was_seen():
    """A day without samples can hold a thousand times what was seen; the axis stops, and says so."""
    plain = watches()
    wild = tuple(replace(watch, ceiling_flop_per_second=1e18) for watch in plain)
    content = ScopeContent("Wild", account_of((session_of("s1", (1, 2)),), wild), wild)

    plate = growth_plate(content, ident="growth")
    _, top = plate.figure.axes[0].get_ylim()

    assert top < 5
    assert "The hatched part leaves the figure" in plate.caption


def test_a_scope_without_an_estimate_has_no_sum():
    """Not a flat line at zero."""
    content = ScopeContent("Silent", account_of((session_of("s1", (1, 2), flop=None),), watches()))

    assert growth_plate(content, ident="growth") is None


def test_the_figure_is_told_in_words():
    """The end of the period, and what nobody saw."""
    label = str(growth_plate(scope_content_of(), ident="growth").figure.get_label())

    assert "At the end of the period 1.9\u00a0×\u00a010¹⁸\u00a0FLOP" in label
