"""What is kept of a stream, and what is forgotten."""

import pytest

from contracts.detector import START_NS, lasting, pieces_at, trace_of
from flopwitness.core.session import cut_session
from flopwitness.detect.stream import PieceOrderError, SampleBuffer
from flopwitness.detect.stretches import Stretch

WHOLE = trace_of(lasting("working", 10))


def filled(n_samples_a_piece: int) -> SampleBuffer:
    """Return a buffer that was fed the whole trace in pieces."""
    buffer = SampleBuffer()
    for piece in pieces_at(WHOLE, range(0, len(WHOLE), n_samples_a_piece)):
        buffer.append(piece)
    return buffer


@pytest.mark.parametrize("n_samples_a_piece", [1, 3, 100])
def test_it_cuts_what_the_whole_trace_would_give(n_samples_a_piece: int):
    """Pieces leave no seam."""
    stretch = Stretch(START_NS + 2 * 10**9, START_NS + 5 * 10**9)

    session = filled(n_samples_a_piece).cut(stretch)

    assert session == cut_session((WHOLE,), stretch.start_ns, stretch.stop_ns)


@pytest.mark.parametrize("n_samples_a_piece", [1, 3, 100])
def test_forgetting_leaves_one_sample_before_the_instant(n_samples_a_piece: int):
    """A counter is interpolated from the sample before."""
    buffer = filled(n_samples_a_piece)

    buffer.forget_before(int(WHOLE.time_ns[95]))

    assert len(buffer) == 6


def test_what_is_forgotten_can_leave_memory():
    """A few kept samples do not hold on to the large piece they came in."""
    buffer = filled(100)

    buffer.forget_before(int(WHOLE.time_ns[98]))

    assert buffer._parts[0].time_ns.base is None


def test_single_samples_are_merged_into_few_parts():
    """A million samples are not a million objects."""
    assert len(filled(1)._parts) <= 7


def test_a_piece_that_does_not_follow_is_refused():
    """Time goes on."""
    buffer = filled(100)

    with pytest.raises(PieceOrderError, match="GPU-a starts at"):
        buffer.append(WHOLE.between(99, 100))
