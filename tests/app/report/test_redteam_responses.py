"""Signed error against what is varied, on the benign band."""

import numpy as np
import pytest
from matplotlib.axes import Axes

from app.report.redteam_made import BATCH, FP8, effects_of_all
from flopwitness.app.report.redteam_responses import responses_plate


def panels(**given: object) -> list[Axes]:
    """Return the panels, a row an attack."""
    settings = {
        "attacks": (BATCH, FP8),
        "effects": effects_of_all(),
        "bands": {"fused": (-0.02, 0.03)},
    } | given
    plate = responses_plate(
        settings["attacks"], settings["effects"], settings["bands"], ident="responses", heading="Responses"
    )
    return plate.figure.axes


def test_a_row_an_attack_and_a_panel_a_method_with_the_twin_first():
    """Values where one thing is varied, labels where several are; errors in per cent."""
    found = panels()

    labels = [[label.get_text() for label in axes.get_xticklabels()] for axes in found]
    _, line, twin = found[1].lines
    assert len(found) == 6
    assert labels[0] == ["8", "16", "128"]
    assert labels[3] == ["twin", "third", "all"]
    assert np.asarray(twin.get_ydata()) == pytest.approx([0])
    assert np.asarray(line.get_ydata()) == pytest.approx([-10, -40])


def test_the_benign_band_is_that_of_the_method():
    """Others have none where nothing benign was asked of them."""
    found = panels()

    n_bands = [len(axes.patches) for axes in found[:3]]
    (band,) = found[2].patches
    assert n_bands == [0, 0, 1]
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((-2, 3))


def test_attacks_that_were_not_run_have_no_row():
    """With none there is no figure."""
    batch = [one for one in effects_of_all() if one.attack == "batch"]

    assert len(panels(effects=batch)) == 3
    assert responses_plate((FP8,), batch, {}, ident="responses", heading="Responses") is None
