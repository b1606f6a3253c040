"""Axes carry round numbers and names as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from flopwitness.app.report.canvas import MOST_TICKS, literal, logarithmic_ticks, shortened, style
from flopwitness.app.report.palette import INK


@given(low=st.floats(1e-3, 1e25), factor=st.floats(2.5, 1e12))
def test_a_logarithmic_axis_has_a_few_round_numbers_inside(low: float, factor: float):
    """At least one, never more than fit, in order, none beyond the ends."""
    ticks = logarithmic_ticks(low, low * factor)

    assert 1 <= len(ticks) <= MOST_TICKS
    assert ticks == sorted(set(ticks))
    assert all(low <= tick <= low * factor for tick in ticks)


@pytest.mark.parametrize("text", ["$x$", "$", "a_b^c", "\\alpha", "<b>&", "10\xa0%"])
def test_names_are_drawn_as_they_are(text: str):
    """A name from a file is no formula; one that is no valid formula is no error."""
    figure = Figure()
    drawn = figure.text(0, 0, literal(text))

    shown, parse = drawn._preprocess_math(drawn.get_text())
    assert parse is False
    assert shown == text


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\n", "\u202e", "\ud800"])
def test_what_has_no_shape_is_replaced(letter: str):
    """A control breaks the drawing, a mark of direction turns its neighbours round."""
    assert literal(f"a{letter}b") == "a\N{REPLACEMENT CHARACTER}b"


@given(st.text(max_size=30))
def test_a_shortened_name_fits(text: str):
    """A short one stays; a long one ends in an ellipsis."""
    short = shortened(text, 10)

    assert len(short) <= 10
    assert short == text or short == text[:9] + "…"


def test_axes_are_named_in_ink():
    """Letters follow the page; none is left black, which a dark page would hide."""
    figure = Figure()
    axes = figure.add_subplot()

    style(axes, x_label="Time (s)", y_label="Power (W)", title="A")

    letters = [
        axes.xaxis.label,
        axes.yaxis.label,
        axes.title,
        *axes.get_xticklabels(),
        *axes.get_yticklabels(),
    ]
    coloured = {to_hex(one.get_color()) for one in letters if one.get_text()}
    assert coloured == {INK}
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Time (s)", "Power (W)")
