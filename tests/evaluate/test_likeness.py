"""What is frozen about signatures is what the benign sweeps on two nodes give."""

from pathlib import Path

import numpy as np
import pytest

from flopwitness.app.opening import open_dataset
from flopwitness.detect.jobs.evidence import LIKENESS
from flopwitness.evaluate.likeness import fitted_likeness

DATASETS = Path(__file__).resolve().parents[2] / "datasets"


def test_the_frozen_scales_are_those_of_nodes_a_and_b():
    """To the digits that are written down."""
    datasets = [open_dataset(DATASETS / name, chip="H200-SXM") for name in ("h200x2-a", "h200x2-b")]

    found = fitted_likeness(datasets)

    np.testing.assert_allclose(found.scales, LIKENESS.scales, atol=1e-4)
    assert found.even_distance == pytest.approx(LIKENESS.even_distance, abs=0.01)
    assert found.steepness == pytest.approx(LIKENESS.steepness, abs=0.01)
