"""Stretches without profiling signals though the device answers."""

from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.profiling import note_profiling, stretches_without_profiling
from plain_traces import NAN, noted, plain_trace


def test_a_stretch_begins_with_the_last_value_before_it():
    """Each value is a mean since the sample before."""
    tensor = [0.5] * 10 + [NAN] * 20 + [0.5] * 10
    trace = plain_trace(range(40), power_watts=300, tensor_active_ratio=tensor)

    assert [stretch.seconds for stretch in stretches_without_profiling(trace)] == [20.0]


def test_a_few_lost_samples_are_no_stretch():
    """A driver loses one now and then; one signal that is blank beside others is not the lock."""
    for tensor, dram in (([0.5, NAN] * 20, [NAN] * 40), ([NAN] * 40, [0.3] * 40)):
        trace = plain_trace(range(40), power_watts=300, tensor_active_ratio=tensor, dram_active_ratio=dram)

        assert stretches_without_profiling(trace) == ()


def test_a_device_without_any_answer_hides_no_profiling():
    """That is a gap, not a lock."""
    trace = plain_trace(
        range(40), power_watts=[300] * 10 + [NAN] * 30, sm_active_ratio=[0.5] * 10 + [NAN] * 30
    )

    assert stretches_without_profiling(trace) == ()


def test_a_node_meter_is_not_asked_for_profiling():
    """It is no device that could offer it."""
    notes = Notes()

    note_profiling([plain_trace(range(40), node_power_watts=5000)], notes)

    assert noted(notes) == {}


def test_devices_that_never_offer_profiling_are_named_once():
    """One finding for a recording, whatever the number of GPUs."""
    notes = Notes()

    note_profiling([plain_trace(range(3), uuid=f"GPU-{n}", power_watts=80) for n in range(8)], notes)

    assert noted(notes) == {"profiling-not-offered": 1}
