"""History: fine near now, coarse far back, gaps stay gaps, and memory does not grow."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.serving_book import START_NS, piece
from contracts.detector import LAW
from flopwitness.app.serving.history import LEVELS, PLOTTED, Curves, GpuHistory
from flopwitness.core.device import Device
from flopwitness.core.trace import Trace

POWER, LINK = PLOTTED.index("power_watts"), PLOTTED.index("nvlink_bytes_per_second")
SECOND = 1_000_000_000
NAN = float("nan")


def pushed(*pieces: Trace) -> GpuHistory:
    """Return a history that took these."""
    history = GpuHistory()
    for each in pieces:
        history.push(each)
    return history


def known(curve: Curves, row: int) -> list[tuple[float, float, float]]:
    """Return mean, low and high of the steps that hold something."""
    there = np.isfinite(curve.mean[row])
    return [tuple(stats) for stats in np.stack([curve.mean, curve.low, curve.high])[:, row, there].T.tolist()]


def test_a_step_holds_the_mean_the_least_and_the_most_of_its_samples():
    """Two steps of half a second, five samples each."""
    history = pushed(piece(0, power_watts=[1.0, 2, 3, 4, 5, 10, 10, 10, 10, 60]))

    curve = history.curves(START_NS, START_NS + SECOND, 2)

    assert known(curve, POWER) == [(3.0, 1.0, 5.0), (20.0, 10.0, 60.0)]


def test_a_gap_is_not_zero():
    """Steps without a sample, and steps of NaN alone, are NaN."""
    history = pushed(piece(0, 5), piece(5, power_watts=[NAN] * 5), piece(20, 5))

    curve = history.curves(START_NS, START_NS + 3 * SECOND, 6)

    assert np.isnan(curve.mean[POWER]).tolist() == [False, True, True, True, False]


@LAW
@given(cuts=st.sets(st.integers(1, 199)))
def test_curves_do_not_depend_on_how_the_stream_was_cut(cuts: set[int]):
    """A step that spans two batches is merged."""
    rng = np.random.default_rng(7)
    whole = piece(3, power_watts=rng.uniform(80, 700, 200).tolist())
    ends = sorted({0, 200, *cuts})
    parts = [whole.between(*ends[at : at + 2]) for at in range(len(ends) - 1)]

    expected = pushed(whole).curves(START_NS, START_NS + 21 * SECOND, 42)
    actual = pushed(*parts).curves(START_NS, START_NS + 21 * SECOND, 42)

    np.testing.assert_allclose(actual.mean[POWER], expected.mean[POWER], rtol=1e-5)
    np.testing.assert_array_equal(actual.low, expected.low)
    np.testing.assert_array_equal(actual.high, expected.high)


def test_samples_that_were_taken_already_do_not_count_twice():
    """The daemon shows its last batch once more when it ends."""
    once, twice = pushed(piece(0)), pushed(piece(0), piece(0))
    ends = START_NS, START_NS + SECOND, 2

    assert known(twice.curves(*ends), POWER) == known(once.curves(*ends), POWER)


@pytest.mark.parametrize(("way", "expected"), [((0.0, 1e8, 3e8), [2e9]), ((5e8, 1e8, 2e8), [1e9])])
def test_nvlink_is_what_the_counters_grew_by(way: tuple[float, ...], expected: list[float]):
    """Both ways add up; a counter that fell was reset, and its step is unknown."""
    columns = {"nvlink_tx_bytes_total": list(way), "nvlink_rx_bytes_total": [0.0] * 3}
    history = pushed(piece(0, **columns))

    curve = history.curves(START_NS, START_NS + SECOND, 2)

    assert [high for _, _, high in known(curve, LINK)] == pytest.approx(expected)


def test_nvlink_counters_bridge_batches():
    """The first sample of a batch is set against the last of the batch before."""
    first = {"nvlink_tx_bytes_total": [0.0], "nvlink_rx_bytes_total": [0.0]}
    second = {"nvlink_tx_bytes_total": [1e8], "nvlink_rx_bytes_total": [1e8]}

    curve = pushed(piece(0, **first), piece(1, **second)).curves(START_NS, START_NS + SECOND, 2)

    assert known(curve, LINK)[0][0] == pytest.approx(2e9)


def test_a_day_is_there_in_steps_of_ten_seconds_and_a_week_in_coarser_ones():
    """What was seen so long ago is asked for by its own stretch."""
    hour, day = 3600, 86_400
    history = GpuHistory()
    for at in range(0, 7 * day, hour):
        time_ns = START_NS + (at + np.arange(0, hour, 5)) * SECOND
        history.push(
            Trace(Device("GPU-a"), time_ns, {"power_watts": np.full(len(time_ns), float(at // day))})
        )
    stop_ns = history.last_ns

    a_day = history.curves(stop_ns - day * SECOND, stop_ns, 8640)
    a_week = history.curves(START_NS, stop_ns, 1000)

    assert a_day.step_ns == 10 * SECOND
    assert np.isfinite(a_day.mean[POWER]).all()
    assert a_week.step_ns == 1200 * SECOND
    assert [a_week.mean[POWER][0], a_week.mean[POWER][-1]] == [0.0, 6.0]


def test_memory_is_taken_at_once_and_never_grows():
    """All levels are allocated with the first sample of a GPU."""
    history = GpuHistory()
    before = sum(
        array.nbytes
        for level in history._levels
        for array in vars(level).values()
        if hasattr(array, "nbytes")
    )
    for at in range(0, 100_000, 100):
        history.push(piece(at, 100))
    after = sum(
        array.nbytes
        for level in history._levels
        for array in vars(level).values()
        if hasattr(array, "nbytes")
    )

    assert after == before
    assert before < 2_000_000


def test_levels_go_from_fine_to_coarse():
    """Each level reaches further back than the one before, and its width is made of whole narrower ones."""
    spans = [width * size for width, size in LEVELS]

    assert spans == sorted(spans)
    assert all(wide % fine == 0 for (fine, _), (wide, _) in pairwise(LEVELS))
