"""Drawing less must not show less: extremes stay, and gaps stay gaps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.app.report.binning import extremes, with_gaps

VALUES = st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), min_size=1, max_size=300)


@given(values=VALUES, n_bins=st.integers(1, 20))
def test_extremes_of_every_stretch_stay(values: list[float], n_bins: int):
    """The smallest and the largest sample are drawn, and nothing that is not a sample."""
    column = np.array(values)
    seconds = np.arange(len(column), dtype=float)

    places, drawn = extremes(seconds, column, n_bins=n_bins)

    assert len(drawn) <= 2 * n_bins
    assert np.array_equal(drawn, column[places.astype(int)], equal_nan=True)
    if np.isfinite(column).any():
        assert np.nanmin(drawn) == np.nanmin(column)
        assert np.nanmax(drawn) == np.nanmax(column)


@given(values=VALUES, n_bins=st.integers(1, 20))
def test_time_still_increases(values: list[float], n_bins: int):
    """A line that ran back would draw a loop."""
    seconds = np.arange(len(values), dtype=float)

    places, _ = extremes(seconds, np.array(values), n_bins=n_bins)

    assert (np.diff(places) > 0).all()


def test_a_stretch_without_an_answer_breaks_the_line():
    """A bin of nothing but NaN gives NaN, not a bridge."""
    column = np.concatenate([np.ones(100), np.full(100, np.nan), np.ones(100)])

    _, drawn = extremes(np.arange(300.0), column, n_bins=3)

    assert np.isnan(drawn).any()


def test_missing_rows_break_the_line():
    """Nobody looked for half a minute: the line ends and starts again."""
    seconds, values = with_gaps(np.array([0.0, 1.0, 2.0, 32.0, 33.0]), np.arange(5.0))

    assert np.array_equal(values, [0.0, 1.0, 2.0, np.nan, 3.0, 4.0], equal_nan=True)
    assert seconds.tolist() == [0.0, 1.0, 2.0, 17.0, 32.0, 33.0]


def test_even_steps_have_no_gap():
    """Nothing is broken that was seen; a single sample and none are left alone."""
    for n_samples in (0, 1, 2, 50):
        seconds = np.arange(float(n_samples))

        _, values = with_gaps(seconds, seconds)

        assert values.tolist() == seconds.tolist()
