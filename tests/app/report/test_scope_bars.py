"""The figure of totals shows bounds, what nobody saw and hostile work apart, at any size of scope."""

from dataclasses import replace

import pytest

from app.report.scope_made import account_of, scope_content_of, session_of, watches
from flopwitness.app.report.palette import SERIES
from flopwitness.app.report.scope_bars import amounts_plate, axis_limits, close_limits, rows_of
from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_flags import flags_of


def axes_of(content: ScopeContent):
    """Return the panels of the figure."""
    return amounts_plate(content, ident="amounts").figure.axes


@pytest.mark.parametrize("flop", [1e18, 1e22, 8e24])
def test_everything_has_a_place_on_the_axis(flop: float):
    """Bars, limits, claims and margins, from a demonstration to the largest models."""
    content = scope_content_of(flop)

    low, high = axes_of(content)[0].get_xlim()

    counts = [row.observed.low_flop for row in rows_of(content)]
    counts += [row.total.most_flop for row in rows_of(content)]
    counts += [end for flag in flags_of(content) for end in flag.ends]
    assert low < min(counts)
    assert max(counts) < high


def test_observed_and_unobserved_are_apart():
    """Filled from low to high; hatched, without a fill, from there to what nobody saw can add."""
    content = scope_content_of()

    hatched, filled, *_ = axes_of(content)[0].containers
    row = rows_of(content)[0]

    assert hatched[0].get_hatch()
    assert hatched[0].get_facecolor()[3] == 0
    assert not filled[0].get_hatch()
    assert filled[0].get_x() == pytest.approx(row.observed.low_flop)
    assert filled[0].get_width() == pytest.approx(row.observed.high_flop - row.observed.low_flop)
    assert hatched[0].get_x() + hatched[0].get_width() == pytest.approx(row.total.high_flop)
    assert SERIES[0].startswith("#")


def test_a_scope_far_below_the_limits_has_a_close_up():
    """Seven decades below, a bar is a stroke; closer, its bounds and the claim's margin can be read."""
    content = scope_content_of()

    _, close = axes_of(content)
    low, high = close.get_xlim()

    assert close.get_title(loc="left") == "Close-up of what was measured"
    assert high / low < 10
    assert "The lower panel is the same, closer." in amounts_plate(content, ident="a").caption


def test_a_figure_that_bars_fill_has_no_close_up():
    """Nothing would be closer."""
    content = replace(scope_content_of(), thresholds=())

    assert close_limits(rows_of(content), flags_of(content), axis_limits(rows_of(content), ())) is None


def test_no_bound_is_an_arrow_at_the_edge():
    """Infinity has no place on an axis, and is not left out."""
    sessions = (session_of("s1", (1, 2), most_factor=float("inf")),)
    content = ScopeContent("Endless", account_of(sessions, watches()))

    arrows = [line for line in axes_of(content)[0].lines if line.get_marker() == ">"]

    assert len(arrows) == 1


def test_what_was_not_converted_is_named_as_measured():
    """One row, by the target of the account."""
    content = replace(scope_content_of(), counted=())

    assert [row.title for row in rows_of(content)] == ["executed FLOP"]


def test_nothing_observed_and_nothing_asked_gives_no_figure():
    """A logarithmic axis has no zero."""
    content = ScopeContent("Nothing", account_of((), ()))

    assert amounts_plate(content, ident="amounts") is None


def test_the_figure_is_told_in_words():
    """Every row with its bounds, every line with its limit."""
    label = str(amounts_plate(scope_content_of(), ident="a").figure.get_label()).replace("\u00a0", " ")

    assert "Executed FLOP: 1.9 × 10¹⁸ FLOP (1.71 × 10¹⁸ to 2.09 × 10¹⁸ FLOP) observed" in label
    assert "Line: EU AI Act, systemic risk: > 10²⁵ FLOP, in force." in label
