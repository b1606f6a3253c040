"""Dots of estimates: none is lost, each leads to its row, and the far ones do not squeeze the others."""

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from app.report.made import evaluation_of, scored_of
from flopwitness.app.report.canvas import Plate
from flopwitness.app.report.palette import SERIES
from flopwitness.app.report.scatter import scatter_plate, series_look


def plate_of(ratios: dict[str, list[float]], names: tuple[str, ...] = ("mlp",), **given: list[str]) -> Plate:
    """Return the figure of some estimators."""
    plate = scatter_plate(scored_of(evaluation_of(ratios, **given)), names, ident="dots", heading="Dots")
    assert plate is not None
    return plate


def dots_of(figure: Figure) -> list[tuple[float, float]]:
    """Return every dot of the first panel, by truth."""
    offsets = [one.get_offsets() for one in figure.axes[0].collections if isinstance(one, PathCollection)]
    return sorted((float(x), float(y)) for x, y in np.concatenate(offsets))


def test_each_workload_is_one_dot_at_truth_and_estimate():
    """The median estimate against what was counted."""
    dots = dots_of(plate_of({"mlp": [0.9, 1.1, 1.0]}).figure)

    assert np.allclose(dots, [(1e15, 0.9e15), (2e15, 2.2e15), (3e15, 3e15)])


def test_each_dot_leads_to_the_row_of_its_workload():
    """Whatever family it belongs to."""
    figure = plate_of({"mlp": [0.9, 1.1, 1.0]}, families=["b", "a", "b"]).figure

    links = {
        tuple(offset): url
        for one in figure.axes[0].collections
        if isinstance(one, PathCollection)
        for offset, url in zip(one.get_offsets().tolist(), one.get_urls(), strict=True)
    }
    assert [links[dot] for dot in dots_of(figure)] == [f"#workload-algorithmic-random-{n}" for n in range(3)]


def test_dots_that_are_far_off_are_hollow_at_the_edge_and_counted():
    """Too low, too high, or no estimate: the axes stay with the others, the caption says how many."""
    plate = plate_of({"mlp": [0.0, 1e6, np.nan, 1.0]})

    low, high = plate.figure.axes[0].get_ylim()
    heights = [height for _, height in dots_of(plate.figure)]
    assert np.allclose(heights, [low, high, high, 4e15])
    assert high < 1e16
    assert "3 estimates off by more than a factor of 4, or absent" in plate.caption


def test_near_dots_leave_the_edge_unsaid():
    """Nothing is explained that is not there."""
    assert "edge" not in plate_of({"mlp": [0.9, 1.1]}).caption


def test_panels_share_their_axes():
    """Two estimators are compared by eye; both axes of both panels are alike."""
    figure = plate_of({"mlp": [0.5, 1.0], "fused": [1.0, 2.0]}, ("mlp", "fused", "absent")).figure

    limits = {axes.get_xlim() for axes in figure.axes} | {axes.get_ylim() for axes in figure.axes}
    assert len(figure.axes) == 2
    assert len(limits) == 1


def test_axes_name_what_they_count():
    """Unit and convention, never a bare number."""
    axes = plate_of({"mlp": [0.9, 1.1]}).figure.axes[0]

    assert axes.get_xlabel().replace("\xa0", " ") == "True FLOP (algorithmic), 10¹⁵ FLOP"
    assert axes.get_ylabel().replace("\xa0", " ") == "Estimated FLOP, 10¹⁵ FLOP"


def test_wide_axes_count_in_powers_of_ten():
    """A unit that fits one end of six decades does not fit the other."""
    evaluation = evaluation_of({"mlp": [1.0] * 5000}, workloads=[f"w{n:04d}" for n in range(5000)])
    plate = scatter_plate(scored_of(evaluation), ("mlp",), ident="dots", heading="Dots")

    axes = plate.figure.axes[0]
    assert axes.get_xlabel() == "True FLOP (algorithmic)"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10¹⁵", "10¹⁶", "10¹⁷", "10¹⁸"]


def test_an_estimator_that_was_not_evaluated_has_no_figure():
    """An empty frame would look like a result."""
    result = scored_of(evaluation_of({"mlp": [1.0, 1.0]}))

    assert scatter_plate(result, ("fused",), ident="dots", heading="Dots") is None


def test_families_differ_in_marker_and_colour():
    """Also when there are more of them than colours."""
    looks = [series_look(number) for number in range(3 * len(SERIES))]

    assert len(set(looks)) == len(looks)
