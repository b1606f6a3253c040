"""Windows of a session: proportions and steadiness of its signals, whatever its size, load and source."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from estimate.classify.made_work import STEADY, scaled, uneven, work
from estimate.made import GPU_A, GPU_B, NAN, every, session_of, trace_of
from flopwitness.estimate.classify.windows import (
    COLUMNS,
    FLOOR_RATIO,
    FLOOR_SPREAD,
    LEAST_ACTIVE_RATIO,
    LEVELS,
    MAD_TO_DEVIATION,
    MIN_SAMPLES,
    RHYTHM,
    SIGNALS,
    window_values,
    windows_of,
)

N_LEVELS = len(LEVELS)
STILL = np.log(FLOOR_SPREAD)
"""The rhythm of work without any."""


def log_of(name: str) -> float:
    """Return the logarithm of a steady share."""
    return float(np.log(STEADY[name] + FLOOR_RATIO))


def test_a_column_is_the_logarithm_of_the_proportion_that_its_name_says():
    """Each share gets the floor of its rounding; steady work has no spread."""
    tensor, dram, sm, occupancy, integer, fp32 = map(log_of, SIGNALS)

    values = windows_of(session_of(work(23))).values

    expected = [[integer - tensor, dram - sm, integer - dram, occupancy - sm, fp32 - dram, STILL]]
    assert_allclose(values, expected)
    assert (*LEVELS, RHYTHM) == COLUMNS


@settings(deadline=None)
@given(factor=st.floats(0.3, 1.0), seed=st.integers(0, 99))
def test_how_busy_a_device_is_changes_no_column(factor: float, seed: int):
    """All shares times one factor: the same proportions, up to the floor."""
    trace = uneven(63, seed=seed)

    full, part = (windows_of(session_of(one)).values for one in (trace, scaled(trace, factor)))

    assert_allclose(part[:, :N_LEVELS], full[:, :N_LEVELS], atol=0.05)
    assert_allclose(part[:, N_LEVELS:], full[:, N_LEVELS:], atol=0.2)


@settings(deadline=None)
@given(data=st.data(), n_samples=st.integers(30, 90))
def test_load_that_goes_up_and_down_is_no_rhythm(data: st.DataObject, n_samples: int):
    """Only how the FP32 share stands to the SM share counts, sample by sample."""
    load = data.draw(st.lists(st.floats(0.3, 1.0), min_size=n_samples, max_size=n_samples))

    values = windows_of(session_of(scaled(work(n_samples), np.array(load)))).values

    assert (values[:, -1] < np.log(0.02)).all()


@settings(deadline=None)
@given(rest_samples=st.integers(0, 11))
def test_rests_between_bursts_of_work_are_no_rhythm(rest_samples: int):
    """Samples at rest are blanks there; what is left shows how steady the work is."""
    works = np.arange(120) % 20 >= rest_samples

    values = windows_of(session_of(scaled(work(120), works))).values

    assert_allclose(values[:, -1], STILL)


def test_phases_of_a_step_are_rhythm():
    """An optimiser's phase is vector work, a forward pass is not: the spread over the level, both robust."""
    phases = np.array([0.1, 0.2, 0.3, 0.4, 0.5])[np.arange(23) % 5]

    values = windows_of(session_of(work(23, fp32_active_ratio=phases))).values

    expected = np.log(MAD_TO_DEVIATION * 0.1 / (0.3 + FLOOR_RATIO) + FLOOR_SPREAD)
    assert_allclose(values[:, -1], [expected])


@settings(deadline=None)
@given(seeds=st.tuples(st.integers(0, 99), st.integers(0, 99)))
def test_which_device_comes_first_does_not_matter(seeds: tuple[int, int]):
    """The same windows in another order."""
    one, other = uneven(63, seed=seeds[0]), uneven(47, seed=seeds[1], device=GPU_B)

    windows = windows_of(session_of(one, other))
    swapped = windows_of(session_of(other, one))

    assert_array_equal(np.sort(swapped.values, axis=0), np.sort(windows.values, axis=0))
    assert swapped.step_seconds == windows.step_seconds


@pytest.mark.parametrize(("n_samples", "n_windows"), [(23, 1), (63, 3), (103, 5), (1203, 60)])
def test_a_session_is_cut_into_windows_of_two_seconds(n_samples: int, n_windows: int):
    """Equal ones, as near to two seconds as goes."""
    windows = windows_of(session_of(uneven(n_samples)))

    assert windows.values.shape == (n_windows, len(COLUMNS))
    assert windows.step_seconds == pytest.approx(0.1)


def test_a_window_holds_what_was_seen_in_it_alone():
    """What changes between two windows changes one of them."""
    n = 43
    half = np.arange(n) >= 22

    values = windows_of(session_of(work(n, int_active_ratio=np.where(half, 0.3, 0.1)))).values

    place = LEVELS.index("int_over_tensor")
    expected = np.log([0.1 + FLOOR_RATIO, 0.3 + FLOOR_RATIO]) - log_of("tensor_active_ratio")
    assert_allclose(values[:, place], expected)


@pytest.mark.parametrize(("step_seconds", "n_windows"), [(0.01, 15), (0.1, 15), (1.0, 2), (2.0, 1)])
def test_a_slower_source_gets_longer_windows(step_seconds: float, n_windows: int):
    """Twenty samples a window, at least two seconds."""
    trace = work(round(30 / step_seconds) + 3, step_seconds)

    assert len(windows_of(session_of(trace)).values) == pytest.approx(n_windows, abs=1)


@pytest.mark.parametrize("places", [[0], [1], [0, 1, -1]])
def test_edges_of_a_session_are_left_out(places: list[int]):
    """They hold work and rest at once; two samples where it begins, one where it ends."""
    spoilt = np.full(63, 0.1)
    spoilt[places] = 0.9

    values = windows_of(session_of(work(63, int_active_ratio=spoilt))).values

    assert_allclose(values, windows_of(session_of(work(63))).values)


def test_samples_outside_a_session_are_not_of_it():
    """The sample before the start and the one after the stop are there for counters."""
    spoilt = np.full(63, 0.1)
    spoilt[[0, -1]] = 0.9

    session = session_of(work(63, int_active_ratio=spoilt), start=0.05, stop=6.15)

    assert_allclose(windows_of(session).values, windows_of(session_of(work(63))).values)


def lost(n_samples: int, places: slice) -> dict[str, np.ndarray]:
    """Return shares that a driver lost in some samples: all zero, DRAM blank."""
    shares = {name: np.full(n_samples, level) for name, level in STEADY.items()}
    for name, column in shares.items():
        column[places] = NAN if name == "dram_active_ratio" else 0.0
    return shares


def test_lost_samples_are_blanks_not_zeros():
    """A driver that answered nothing did not see an idle device."""
    spoilt = work(63, **lost(63, slice(10, 50, 5)))

    assert_allclose(windows_of(session_of(spoilt)).values, windows_of(session_of(work(63))).values)


@pytest.mark.parametrize("name", SIGNALS)
def test_a_blank_in_one_signal_is_left_out_of_its_mean(name: str):
    """Half of a signal's samples carry its level as well as all do."""
    shares = np.where(np.arange(63) % 2, STEADY[name], NAN)

    values = windows_of(session_of(work(63, **{name: shares}))).values

    assert_allclose(values, windows_of(session_of(work(63))).values)


@pytest.mark.parametrize("name", SIGNALS)
def test_a_window_in_which_a_signal_was_hardly_seen_is_left_out(name: str):
    """The other windows stay."""
    shares = np.where(np.arange(63) < 22, NAN, STEADY[name])

    values = windows_of(session_of(work(63, **{name: shares}))).values

    assert len(values) == 2
    assert np.isfinite(values).all()


@pytest.mark.parametrize(
    ("active_ratio", "n_windows"), [(LEAST_ACTIVE_RATIO / 2, 2), (2 * LEAST_ACTIVE_RATIO, 3)]
)
def test_a_window_at_rest_is_left_out(active_ratio: float, n_windows: int):
    """What waits shows no kind of work; what works a little does."""
    active = np.where(np.arange(63) < 23, active_ratio, 0.9)

    assert len(windows_of(session_of(work(63, sm_active_ratio=active))).values) == n_windows


@settings(deadline=None)
@given(seed=st.integers(0, 99))
def test_a_piece_taken_as_one_window_is_the_window_of_a_session(seed: int):
    """As a daemon sees it, which has no session yet: the same columns, nothing left out at the edges."""
    trace = uneven(23, seed=seed)

    values, step_seconds = window_values(trace.between(3, 22))

    windows = windows_of(session_of(trace))
    assert_allclose(values, windows.values)
    assert step_seconds == pytest.approx(windows.step_seconds)


@pytest.mark.parametrize("changed", [{"int_active_ratio": None}, {"sm_active_ratio": 0.01}])
def test_a_piece_at_rest_or_without_a_signal_is_no_window(changed: dict[str, float | None]):
    """As of a session."""
    assert window_values(work(20, **changed))[0].shape == (0, len(COLUMNS))


def test_signals_that_no_device_has_are_named():
    """In the order of the list, and no window is made up."""
    windows = windows_of(session_of(work(63, int_active_ratio=None, dram_active_ratio=None)))

    assert windows.missing == ("dram_active_ratio", "int_active_ratio")
    assert windows.values.shape == (0, len(COLUMNS))
    assert np.isnan(windows.step_seconds)


def test_a_device_without_a_signal_leaves_the_word_to_the_others():
    """One that lacks a signal gives no windows; nothing is missing of the session."""
    lacking = work(63, device=GPU_B, tensor_active_ratio=None)

    windows = windows_of(session_of(work(63), lacking))

    assert windows.missing == ()
    assert_array_equal(windows.values, windows_of(session_of(work(63))).values)


@pytest.mark.parametrize("n_samples", [1, 2, MIN_SAMPLES])
def test_too_few_samples_give_no_window(n_samples: int):
    """The first of these lies on the start of the session, so that one more is needed."""
    session = session_of(trace_of(every(0.1, n_samples), GPU_A, **STEADY), stop=1.0)

    assert len(windows_of(session).values) == 0
    assert len(windows_of(session_of(work(MIN_SAMPLES + 1))).values) == 1


def test_an_hour_is_eighteen_hundred_windows_a_device():
    """All windows at once; none is lost on the way."""
    day_part = session_of(uneven(36_003), uneven(36_003, device=GPU_B))

    values = windows_of(day_part).values

    assert values.shape == (2 * 1800, len(COLUMNS))
    assert np.isfinite(values).all()


@settings(deadline=None)
@given(
    shares=st.lists(
        st.lists(st.one_of(st.just(NAN), st.floats(0, 1)), min_size=6, max_size=6), min_size=1, max_size=60
    )
)
def test_a_window_that_is_given_is_finite(shares: list[list[float]]):
    """Whatever a source answered."""
    columns = dict(zip(SIGNALS, np.array(shares).T, strict=True))
    session = session_of(trace_of(every(0.1, len(shares)), GPU_A, **columns), stop=10.0)

    assert np.isfinite(windows_of(session).values).all()
