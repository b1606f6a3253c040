"""Claims and limits are lines whose flags can be read side by side, told apart without colour."""

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.report.scope_made import scope_content_of
from flopwitness.app.report.scope_flags import (
    GONE,
    IN_FORCE,
    PROPOSED,
    draw_lines,
    draw_texts,
    flags_of,
    line_of,
)

ROWS = ("executed", "eu-cumulative", "us-operations")


@pytest.fixture
def axes() -> Axes:
    """Return axes with three rows on a logarithmic scale."""
    axes = Figure(figsize=(8, 4)).add_subplot()
    axes.set_xscale("log")
    axes.set_xlim(1e17, 1e26)
    axes.set_ylim(2.5, -4)
    return axes


def test_flags_are_in_the_order_of_their_counts():
    """So that a flag that points left meets no taller line; each names its limit and status."""
    texts = [flag.text.replace("\u00a0", " ") for flag in flags_of(scope_content_of())]

    assert texts == [
        "Claim of project-x ACME: 10¹⁸ FLOP ± 30 %",
        "Draft treaty, monitored: > 10²² FLOP, proposal",
        "EU AI Act, systemic risk: > 10²⁵ FLOP, in force",
    ]


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("in force", IN_FORCE),
        ("in force (indicative)", IN_FORCE),
        ("proposal", PROPOSED),
        ("enacted", PROPOSED),
        ("rescinded", GONE),
        ("vetoed", GONE),
        ("not in force", GONE),
        ("anything that nobody foresaw", PROPOSED),
    ],
)
def test_a_line_shows_whether_its_rule_is_in_force(status: str, line: object):
    """Whole, dashed or dotted; a status that is not known is not shown as in force."""
    assert line_of(status) == line


def test_each_line_ends_above_the_one_before_and_is_thick_where_it_decides(axes: Axes):
    """A line a flag; a second, thick piece in the row of its convention, where that is drawn."""
    flags = flags_of(scope_content_of())

    draw_lines(axes, flags, ROWS, top=-0.8)

    tops = [min(line.get_ydata()) for line in axes.lines if line.get_linewidth() < 4]
    thick = [tuple(line.get_ydata()) for line in axes.lines if line.get_linewidth() == 4]
    assert tops == sorted(tops, reverse=True)
    assert len(set(tops)) == 3
    assert thick == [(0.6, 1.4)] * 2


def test_the_margin_of_a_claim_is_a_box_in_its_row(axes: Axes):
    """From 0.7 to 1.3 of the claim."""
    draw_lines(axes, flags_of(scope_content_of()), ROWS, top=-0.8)

    (box,) = axes.patches
    assert box.get_x() == pytest.approx(0.7e18)
    assert box.get_width() == pytest.approx(0.6e18)


def test_texts_stand_on_the_side_that_has_room(axes: Axes):
    """Right of a line on the left, left of a line on the right."""
    draw_texts(axes, flags_of(scope_content_of()), top=-0.8)

    assert [text.get_ha() for text in axes.texts] == ["left", "right", "right"]
