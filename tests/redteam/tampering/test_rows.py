"""Samples dropped, frozen, replayed."""

import numpy as np
import pytest

from flopwitness.redteam.tampering.aim import Aim
from flopwitness.redteam.tampering.rows import drop_block, drop_loaded, drop_scattered, freeze, replay
from verify.consistency.made import START_NS, clean_recording

AIM = Aim(START_NS + 30 * 10**9, START_NS + 60 * 10**9)
ENERGY, SM = "energy_joules_total", "sm_active_ratio"


def rng() -> np.random.Generator:
    """Return chance that repeats."""
    return np.random.default_rng(1)


def test_a_greater_strength_drops_what_a_smaller_one_does_and_more():
    """So that an estimate moves steadily with it."""
    recording = clean_recording()
    some, more = (set(drop_scattered(recording, AIM, share, rng()).traces[0].time_ns) for share in (0.2, 0.4))

    assert more < some


def test_a_block_is_dropped_whole():
    """Half of thirty seconds at ten samples a second."""
    recording = clean_recording()

    assert len(drop_block(recording, AIM, 0.5, rng()).traces[0]) == 900 - 151


def test_only_loaded_samples_are_dropped():
    """Idle ones stay, to look as if somebody had watched."""
    recording = clean_recording()
    idle = recording.traces[0][SM] == 0
    after = drop_loaded(recording, AIM, 1.0, rng()).traces[0]

    assert (after[SM] == 0).sum() == idle.sum()
    assert len(after) < 900


def test_a_frozen_signal_holds_its_last_value():
    """The one before the stretch."""
    recording = clean_recording()
    before, after = (
        recording.traces[0]["power_watts"],
        freeze(recording, AIM, 1.0, rng()).traces[0]["power_watts"],
    )

    assert set(after[300:601]) == {before[299]}
    assert np.array_equal(after[601:], before[601:])


def test_a_replay_is_made_of_earlier_samples_and_counters_go_on():
    """No counter falls, and the lightest stretch is chosen."""
    recording = clean_recording()
    before, after = recording.traces[0], replay(recording, AIM, 0.2, rng()).traces[0]

    assert set(after[SM][300:360]) <= set(before[SM][:300])
    lightest = np.convolve(before[SM][:300], np.ones(60), mode="valid").min()
    assert after[SM][300:360].sum() == pytest.approx(lightest)
    assert (np.diff(after[ENERGY]) >= 0).all()


def test_nothing_can_be_replayed_before_there_was_anything():
    """From the first sample on."""
    recording = clean_recording()

    assert replay(recording, Aim(START_NS, START_NS + 10**9), 1.0, rng()).traces == recording.traces
