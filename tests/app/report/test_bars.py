"""Bars of medians: ours are named, published figures appear only where they are comparable."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from app.report.made import evaluation_of, scored_of
from flopwitness.app.report.bars import bars_plate
from flopwitness.core.workload import Target
from flopwitness.evaluate.protocols import Protocol

ALIKE = {"linear-power": [1.25, 1.25], "mlp": [1.1, 1.1], "fused": [1.01, 1.01]}


def figure_of(ratios: dict[str, list[float]] = ALIKE, **given: object) -> Figure:
    """Return the drawing of one evaluation."""
    return bars_plate(scored_of(evaluation_of(ratios, **given)), ident="bars").figure


def test_each_estimator_is_one_bar_as_long_as_its_median():
    """In per cent, in the order of the estimators."""
    (axes,) = figure_of().axes

    assert [patch.get_width() for patch in axes.patches] == pytest.approx([25.0, 10.0, 1.0])
    assert axes.get_xlabel() == "Median absolute error (%)"


def test_ours_are_named_and_look_different():
    """By words as well as by colour."""
    (axes,) = figure_of().axes

    names = [label.get_text() for label in axes.get_yticklabels()]
    colours = [patch.get_facecolor() for patch in axes.patches]
    assert names == ["linear-power", "mlp", "fused (ours)"]
    assert colours[0] == colours[1] != colours[2]


def test_whiskers_show_the_interval():
    """From the low end to the high end of the resampled medians."""
    ratios = {"mlp": [1.1, 1.2, 1.3, 1.4]}
    score = scored_of(evaluation_of(ratios)).scores["mlp"]

    (axes,) = figure_of(ratios).axes

    expected = [100 * score.median_interval.low, 100 * score.median_interval.high]
    assert axes.lines[0].get_xdata() == pytest.approx(expected)


def test_an_interval_that_says_nothing_has_no_whisker():
    """One workload cannot be resampled."""
    (axes,) = figure_of({"mlp": [1.1]}).axes

    assert len(axes.lines) == 0


def test_an_estimator_without_a_median_has_words_in_place_of_a_bar():
    """No bar would look like no error."""
    (axes,) = figure_of({"mlp": [np.nan, np.nan], "fused": [1.01, 1.01]}).axes

    assert len(axes.patches) == 1
    assert "no finite answer" in axes.texts[0].get_text()


@pytest.mark.parametrize(
    ("protocol", "target", "n_diamonds"),
    [
        (Protocol.FOLDS, Target.ALGORITHMIC, 2),
        (Protocol.RANDOM, Target.ALGORITHMIC, 0),
        (Protocol.FOLDS, Target.EXECUTED, 0),
    ],
)
def test_published_figures_stand_beside_equal_counts_only(
    protocol: Protocol, target: Target, n_diamonds: int
):
    """Equal folds and algorithmic FLOP, as published; the caption says that the data are others."""
    plate = bars_plate(scored_of(evaluation_of(ALIKE, protocol=protocol, target=target)), ident="bars")

    diamonds = [one for one in plate.figure.axes[0].collections if isinstance(one, PathCollection)]
    assert sum(len(one.get_offsets()) for one in diamonds) == n_diamonds
    assert ("another data set" in plate.caption) is (n_diamonds > 0)
