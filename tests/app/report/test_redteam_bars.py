"""How far estimators are moved: one bar a method, minus to the left, the farthest setting of each attack."""

from dataclasses import replace
from math import nan

import pytest

from app.report.redteam_made import effects_of_all
from flopwitness.app.report.redteam_bars import farthest, movement_plate
from redteam.made import effect


def test_bars_are_as_long_as_the_farthest_movement_of_each_method():
    """In points of signed error; groups in the order of the attacks, methods in theirs."""
    plate = movement_plate(effects_of_all(), ident="moved", heading="Moved")

    (axes,) = plate.figure.axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([-10, -10, -40, -40, -1, -1])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["batch", "fp8"]
    low, high = axes.get_xlim()
    assert low < -40 < 0 < high


def test_the_farthest_setting_counts_whichever_way_it_moves():
    """Over-reporting by 30 points is farther than hiding 20."""
    up, down = effect("heads-64", error=0.3), effect("heads-1", error=-0.2)

    assert farthest([down, up]) == (up,)


def test_an_attack_without_a_twin_has_no_bar():
    """It moved from nowhere that is known; with none left there is no figure."""
    alone = [replace(one, twin_error_ratio=nan) for one in effects_of_all()]

    assert movement_plate(alone, ident="moved", heading="Moved") is None
