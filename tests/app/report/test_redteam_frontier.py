"""What hiding costs: one mark a setting, both figures beside each other."""

from dataclasses import replace
from math import nan

import numpy as np
from matplotlib.collections import PathCollection

from app.report.redteam_made import effects_of_all
from flopwitness.app.report.redteam_frontier import frontier_plate
from flopwitness.redteam.cost import Cost


def test_marks_stand_at_cost_and_hidden_share():
    """Times the twin's GPU time, per cent of the truth; the bound hides 5 points less; dear ones apart."""
    plate = frontier_plate(effects_of_all(), "mlp", ident="frontier")

    point, high = plate.figure.axes
    marks = [
        [
            sorted({tuple(np.round(place, 6)) for place in one.get_offsets()})
            for one in axes.collections
            if isinstance(one, PathCollection)
        ]
        for axes in (point, high)
    ]
    assert marks[0] == [[(1.2, 10.0)], [(2.2, 40.0)]]
    assert marks[1] == [[(1.2, 5.0)], [(2.2, 35.0)]]
    assert [axes.get_title(loc="left") for axes in (point, high)] == ["From the point", "From the high bound"]


def test_settings_that_hide_most_are_named():
    """The least of them first."""
    plate = frontier_plate(effects_of_all(), "mlp", ident="frontier")

    names = [text.get_text() for text in plate.figure.axes[0].texts]
    assert set(names) >= {"batch-16", "batch-128"}


def test_without_a_known_cost_there_is_no_figure():
    """Nor of a method that nobody attacked."""
    unknown = [replace(one, cost=Cost(nan, nan)) for one in effects_of_all()]

    assert frontier_plate(unknown, "mlp", ident="frontier") is None
    assert frontier_plate(effects_of_all(), "pipe-cycles", ident="frontier") is None
