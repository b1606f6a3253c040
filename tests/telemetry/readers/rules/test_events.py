"""A driver error is where the code changes."""

from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.events import MOST_SAID, with_xids_noted, xid_events
from plain_traces import NAN, noted, plain_trace


def test_a_change_is_an_event_and_a_level_is_none():
    """The gauge keeps its last code for ever; blanks between do not make it new."""
    trace = plain_trace(range(8), xid_code=[0, 0, 31, 31, NAN, 31, 79, 79])

    assert [(event.code, event.is_old) for event in xid_events(trace)] == [(31, False), (79, False)]


def test_a_code_that_stands_at_the_first_sample_may_be_older():
    """Nobody saw it come."""
    assert [event.is_old for event in xid_events(plain_trace(range(3), xid_code=31))] == [True]


def test_no_code_is_no_event():
    """Neither a gauge at 0 nor a source without one."""
    assert xid_events(plain_trace(range(3), xid_code=0)) == ()
    assert xid_events(plain_trace(range(3), power_watts=80)) == ()


def test_a_gauge_that_flaps_does_not_flood_the_report():
    """The rest is counted."""
    notes = Notes()

    with_xids_noted(plain_trace(range(1000), xid_code=[13, 31] * 500), notes)

    assert noted(notes) == {"xid": MOST_SAID + 1}
