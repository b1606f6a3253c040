"""Samples in another time, or under another device."""

import numpy as np
import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.recording import Recording
from flopwitness.redteam.tampering.aim import Aim
from flopwitness.redteam.tampering.places import shift, swap, wrong_index
from verify.consistency.made import START_NS, UUIDS, clean_recording

WHOLE = Aim(START_NS, START_NS + 91 * 10**9)
ENERGY, SM = "energy_joules_total", "sm_active_ratio"


def rng() -> np.random.Generator:
    """Return chance that nothing here uses."""
    return np.random.default_rng(0)


def test_a_device_is_shifted_exactly():
    """Its instants move, its values stay, its partner stays."""
    recording = clean_recording()
    one, two = shift(recording, Aim(START_NS, START_NS + 1, UUIDS[:1]), 0.123, rng()).traces

    assert (one.time_ns - recording.traces[0].time_ns == 123_000_000).all()
    assert two == recording.traces[1]


def test_a_signal_is_shifted_by_whole_samples():
    """Each value as it was, later."""
    recording = clean_recording()
    aim = Aim(WHOLE.start_ns, WHOLE.stop_ns, (), (SM,))
    after = shift(recording, aim, 0.31, rng()).traces[0][SM]

    assert np.array_equal(after[3:], recording.traces[0][SM][:-3])


def test_a_whole_swap_gives_each_the_others_values():
    """Under its own UUID and instants."""
    recording = clean_recording(together=False)
    one, two = swap(recording, WHOLE, 1.0, rng()).traces

    assert one.device.uuid == UUIDS[0]
    assert np.array_equal(one[SM][:-1], recording.traces[1][SM][:-1])
    assert np.array_equal(two[ENERGY][1:], recording.traces[0][ENERGY][1:])


def test_a_wrong_index_lets_counters_go_on_from_their_own_level():
    """Or they would jump."""
    recording = clean_recording(together=False)
    aim = Aim(START_NS + 30 * 10**9, START_NS + 91 * 10**9, (), (ENERGY,))
    one, _ = wrong_index(recording, aim, 1.0, rng()).traces
    moved = np.diff(one[ENERGY])

    assert (moved >= 0).all()
    assert np.array_equal(one[SM], recording.traces[0][SM])
    assert np.allclose(moved[400:500], np.diff(recording.traces[1][ENERGY])[400:500], atol=1e-6)


def test_one_device_cannot_be_taken_for_another():
    """There is no other."""
    recording = clean_recording()
    alone = Recording("one", recording.traces[:1], recording.provenance)

    with pytest.raises(InvalidNounError):
        swap(alone, WHOLE, 1.0, rng())
