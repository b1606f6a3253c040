"""Constants, factors, cut peaks, counters set back."""

import numpy as np
import pytest

from flopwitness.redteam.tampering.aim import Aim
from flopwitness.redteam.tampering.catalogue import Change
from flopwitness.redteam.tampering.values import bias, clip_peaks, reset_counters, scale
from verify.consistency.made import START_NS, clean_recording

ENERGY, TENSOR, CLOCK = "energy_joules_total", "tensor_active_ratio", "sm_clock_hertz"


def aim(*channels: str) -> Aim:
    """Aim at channels of every device, all the time."""
    return Aim(START_NS, START_NS + 90 * 10**9, (), channels)


def tampered(change: Change, strength: float, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a channel before and after."""
    recording = clean_recording()
    after = change(recording, aim(name), strength, np.random.default_rng(0))
    return recording.traces[0][name], after.traces[0][name]


def test_a_scaled_counter_moves_so_much_less():
    """From the same start."""
    before, after = tampered(scale, 0.1, ENERGY)

    assert after[0] == before[0]
    assert after[-1] - after[0] == pytest.approx(0.9 * (before[-1] - before[0]))


def test_a_scaled_clock_stays_on_the_grid():
    """Or its values would give it away."""
    _, after = tampered(scale, 0.07, CLOCK)

    assert (after % 15e6 == 0).all()


def test_a_bias_leaves_zeros_and_lowers_the_rest_alike():
    """An idle pipe that read less than 0 would give it away."""
    before, after = tampered(bias, 0.1, TENSOR)
    active = before > 0

    assert (after[~active] == 0).all()
    assert np.ptp((before - after)[active]) == pytest.approx(0, abs=1e-12)


def test_a_biased_counter_never_falls():
    """It counts a constant less a second, and stands still at worst."""
    before, after = tampered(bias, 0.3, ENERGY)

    assert (np.diff(after) >= 0).all()
    assert after[-1] < before[-1]


def test_peaks_are_cut_at_one_value():
    """Half of the active samples read the same."""
    before, after = tampered(clip_peaks, 0.5, TENSOR)

    assert (after == after.max()).sum() == pytest.approx((before > 0).sum() / 2, abs=2)


def test_a_counter_set_back_starts_from_there():
    """All of what it had moved is gone, and it counts on as before."""
    before, after = tampered(reset_counters, 1.0, ENERGY)
    falls = np.flatnonzero(np.diff(after) < 0)

    assert len(falls) == 1
    assert after[falls[0] + 1] - before[0] < 200
    assert np.allclose(np.diff(after)[falls[0] + 1 :], np.diff(before)[falls[0] + 1 :])


@pytest.mark.parametrize("change", [scale, bias, clip_peaks])
def test_blanks_stay_blank(change: Change):
    """What nobody knew is not made up."""
    recording = clean_recording()
    trace = recording.traces[0]
    holed = trace[TENSOR].copy()
    holed[100:110] = np.nan
    blank = type(trace)(trace.device, trace.time_ns, {**trace.channels, TENSOR: holed})
    recording = type(recording)("made", (blank,), recording.provenance)

    after = change(recording, aim(TENSOR), 0.2, np.random.default_rng(0)).traces[0][TENSOR]

    assert np.flatnonzero(np.isnan(after)).tolist() == list(range(100, 110))
