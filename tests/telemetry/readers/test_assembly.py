"""Readings to traces: order, repeats, and what no channel offers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.assembly import Ordering, recording_of
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.known import FORMATS
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.reading import Context, Readings

GPUS = {0: Device("GPU-a"), 1: Device("GPU-b")}


def _readings(times: list[int], index: list[int] | None = None, watts: list[float] | None = None) -> Readings:
    who = np.array(index if index is not None else [0] * len(times), dtype=np.int64)
    values = np.array(watts if watts is not None else times, dtype=np.float64)
    return Readings(GPUS, who, np.array(times, dtype=np.int64), {"power_watts": values})


@given(order=st.permutations(list(range(8))))
def test_rows_in_any_order_give_the_same_trace(order: list[int]):
    """Sorted by time, each value with its own instant."""
    (piece,) = Ordering(Notes()).pieces(_readings(list(order)))

    assert piece.time_ns.tolist() == list(range(8))
    assert piece["power_watts"].tolist() == list(range(8))


def test_each_device_gets_its_rows():
    """Two labels of one UUID are one device; another is another."""
    pieces = list(Ordering(Notes()).pieces(_readings([1, 1, 2, 2], [0, 1, 0, 1])))

    assert [(piece.device.uuid, piece.time_ns.tolist()) for piece in pieces] == [
        ("GPU-a", [1, 2]),
        ("GPU-b", [1, 2]),
    ]


def test_a_stamp_that_comes_again_counts_once():
    """The first row is kept; another value under the same stamp is a warning, the same value a note."""
    notes = Notes()

    (piece,) = Ordering(notes).pieces(_readings([1, 1, 2, 2], watts=[5.0, 5.0, 6.0, 7.0]))

    assert piece["power_watts"].tolist() == [5.0, 6.0]
    assert (notes.n("repeated-rows"), notes.n("duplicate-times")) == (1, 1)


def test_rows_of_a_later_block_that_come_too_late_are_counted():
    """Only what is after what a device had before goes on."""
    notes = Notes()
    ordering = Ordering(notes)

    first, second = (list(ordering.pieces(_readings(times))) for times in ([10, 20], [15, 30]))

    assert [piece.time_ns.tolist() for piece in (*first, *second)] == [[10, 20], [30]]
    assert notes.n("late-rows") == 1


def test_a_recording_without_a_sample_is_refused():
    """With the format that was looked for."""
    context = Context(Input.of_bytes(b"nothing", "upload"))

    with pytest.raises(BadInputError, match="upload: expected samples"):
        recording_of(context, FORMATS[0], ())
