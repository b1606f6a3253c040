"""A GPU that stops answering ends where it stopped."""

from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.lost import without_lost_end
from plain_traces import NAN, START_NS, noted, plain_trace


def test_a_trace_ends_with_its_last_answer():
    """The finding says since when."""
    notes = Notes()
    trace = plain_trace(range(5), power_watts=[300, 301, NAN, NAN, NAN], gpu_util_ratio=[1, 1, NAN, NAN, NAN])

    found = without_lost_end(trace, notes)

    assert found["power_watts"].tolist() == [300, 301]
    assert [each.start_ns for each in notes.findings()] == [START_NS + 2 * 10**9]
    assert noted(notes) == {"gpu-lost": 1}


def test_a_device_that_comes_back_is_not_lost():
    """Blanks in the middle are blanks; one blank row at the end is a slip."""
    for watts in ([300, NAN, NAN, NAN, 301], [300, 301, 302, 303, NAN]):
        trace = plain_trace(range(5), power_watts=watts)

        assert without_lost_end(trace, Notes()) is trace


def test_a_device_that_never_answers_is_silent():
    """It leaves no trace, and a finding."""
    notes = Notes()

    assert len(without_lost_end(plain_trace(range(3), power_watts=NAN), notes)) == 0
    assert noted(notes) == {"gpu-silent": 1}
