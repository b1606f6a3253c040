"""The published figures are those of the experiment, under names that exist here."""

from flopwitness.app.report.published import OURS, PUBLISHED, SOURCE
from flopwitness.estimate.methods import METHODS


def test_every_estimator_is_published_or_ours():
    """None is both, none is neither: a bar is grey or ours."""
    assert set(PUBLISHED) | set(OURS) == set(METHODS)
    assert set(PUBLISHED) & set(OURS) == set()


def test_the_figures_are_the_reported_ones():
    """Medians of the report and, on equal folds, of its companion."""
    random = {name: one.random_ratio for name, one in PUBLISHED.items()}
    folds = {name: one.folds_ratio for name, one in PUBLISHED.items()}

    assert random == {
        "linear-power": 0.129,
        "linear-power-dram": 0.151,
        "linear-power-dram-nvlink": 0.151,
        "mlp": None,
        "mlp-residual": None,
    }
    assert list(folds.values()) == [0.131, 0.149, 0.149, 0.104, 0.104]


def test_the_source_says_that_the_data_are_others():
    """Two V100 boards and 88 workloads, none of them ours."""
    assert "V100" in SOURCE
    assert "88 workloads" in SOURCE
