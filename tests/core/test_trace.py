"""A Trace is evidence: checked once, and nobody can write to it afterwards."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.device import Device
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import Trace, joined

GPU = Device("GPU-a", chip="H200-SXM", host="n1")
SECOND_NS = 10**9
VALUES = st.floats(0, 1e6) | st.just(float("nan"))
TRACES = st.lists(VALUES, max_size=30).map(
    lambda watts: Trace(GPU, np.arange(len(watts)) * SECOND_NS, {"power_watts": watts})
)


@pytest.mark.parametrize(
    ("time_ns", "channels", "said"),
    [
        ([0, 0], {"power_watts": [1, 2]}, "does not increase at sample 1"),
        ([2, 1], {"power_watts": [1, 2]}, "does not increase at sample 1"),
        ([[0, 1]], {}, "2 axes"),
        ([0, 1], {"power": [1, 2]}, "no unit"),
        ([0, 1], {"power_watts": [1]}, "shape"),
        ([0, 1], {"power_watts": [1, np.inf]}, "infinite"),
    ],
)
def test_what_is_no_trace_cannot_exist(time_ns: list[int], channels: dict[str, list[float]], said: str):
    """Each promise of the noun is kept from the start, and the message names what broke it."""
    with pytest.raises(InvalidNounError, match=said):
        Trace(GPU, time_ns, channels)


NAMES = ("power_watts", "tensor_active_ratio")


@pytest.mark.parametrize(
    ("time_ns", "names", "block", "said"),
    [
        ([0, 0], NAMES, np.zeros((2, 2)), "does not increase at sample 1"),
        ([0, 1], ("power", NAMES[1]), np.zeros((2, 2)), "'power' has no unit"),
        ([0, 1], NAMES, np.zeros((2, 3)), "cannot be a block"),
        ([0, 1], NAMES, np.zeros((3, 2)), "cannot be a block"),
        ([0, 1], (NAMES[0], NAMES[0]), np.zeros((2, 2)), "cannot be a block"),
        ([0, 1], NAMES, np.array([[1, 2], [3, np.inf]]), "'tensor_active_ratio' holds an infinite"),
    ],
)
def test_a_block_is_checked_as_columns_are(
    time_ns: list[int], names: tuple[str, ...], block: np.ndarray, said: str
):
    """The quick way keeps every promise too; a channel that is named twice is none."""
    with pytest.raises(InvalidNounError, match=said):
        Trace.stacked(GPU, time_ns, names, block=block)


@given(st.lists(st.tuples(VALUES, VALUES), max_size=20))
def test_a_block_gives_the_trace_that_its_rows_give(rows: list[tuple[float, float]]):
    """Two ways to one piece of evidence, bit for bit; nobody can write to either."""
    block = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    time_ns = np.arange(len(rows))

    trace = Trace.stacked(GPU, time_ns, NAMES, block=block)
    expected = Trace(GPU, time_ns, dict(zip(NAMES, block, strict=True)))
    block[:] = 7.0

    assert trace == expected
    assert not any(column.flags.writeable for column in trace.channels.values())


def test_nobody_can_write_to_evidence():
    """Arrays are read-only, and what a caller could still write to was copied."""
    watts = np.array([80.0, 90.0])
    trace = Trace(GPU, [0, 1], {"power_watts": watts})

    watts[0] = 700.0

    assert trace["power_watts"].tolist() == [80.0, 90.0]
    with pytest.raises(ValueError, match="read-only"):
        trace["power_watts"][0] = 700.0
    with pytest.raises(TypeError):
        trace.channels["power_watts"] = watts


def test_memory_that_nobody_can_write_to_is_shared():
    """Ten million samples are not copied for nothing."""
    watts = np.array([80.0, 90.0])
    watts.flags.writeable = False

    trace = Trace(GPU, [0, 1], {"power_watts": watts})

    assert np.shares_memory(trace["power_watts"], watts)
    assert np.shares_memory(trace.between(1, 2)["power_watts"], watts)


def test_a_view_of_memory_that_somebody_can_write_to_is_copied():
    """A read-only view protects nothing while its owner is open."""
    owner = np.array([80.0, 90.0])
    view = owner[:]
    view.flags.writeable = False

    trace = Trace(GPU, [0, 1], {"power_watts": view})
    owner[0] = 700.0

    assert trace["power_watts"][0] == 80.0


def test_an_absent_channel_is_no_column_of_zeros():
    """Absent is an absent key; asked for as a column it is NaN throughout."""
    trace = Trace(GPU, [0, 1], {"power_watts": [80, 90]})

    assert "energy_joules_total" not in trace
    assert np.isnan(trace.column("energy_joules_total")).all()


@given(TRACES, st.data())
def test_pieces_joined_again_are_the_whole(trace: Trace, data: st.DataObject):
    """Cutting anywhere and joining gives the same evidence, bit for bit."""
    cuts = sorted({0, len(trace), *data.draw(st.sets(st.integers(0, len(trace))))})
    pieces = [trace.between(start, stop) for start, stop in pairwise(cuts)] or [trace]

    assert joined(pieces) == trace


@given(TRACES)
def test_a_trace_survives_another_process(trace: Trace):
    """Pickled and back it is equal, checked and frozen again."""
    back = pickle.loads(pickle.dumps(trace))  # noqa: S301  our own bytes

    assert back == trace
    assert not back.time_ns.flags.writeable


def test_within_takes_both_ends():
    """The stretch is closed: a sample at either end is inside."""
    trace = Trace(GPU, [0, 1, 2, 3], {})

    assert trace.within(1, 2).time_ns.tolist() == [1, 2]


@pytest.mark.parametrize(
    "other",
    [
        Trace(Device("GPU-b", chip="H200-SXM", host="n1"), [0, 1], {"power_watts": [80, 90]}),
        Trace(GPU, [0, 2], {"power_watts": [80, 90]}),
        Trace(GPU, [0, 1], {"power_watts": [80, 91]}),
        Trace(GPU, [0, 1], {"power_instant_watts": [80, 90]}),
    ],
    ids=["device", "instant", "value", "channel"],
)
def test_anything_changed_changes_the_digest(other: Trace):
    """Device, instants, values and names are all evidence."""
    assert other.digest() != Trace(GPU, [0, 1], {"power_watts": [80, 90]}).digest()


def test_pieces_of_several_devices_are_not_joined():
    """One trace is of one device."""
    other = Trace(Device("GPU-b"), [5], {})

    with pytest.raises(InvalidNounError, match="several devices"):
        joined([Trace(GPU, [0], {}), other])
    with pytest.raises(InvalidNounError, match="no piece"):
        joined([])


def test_a_channel_that_only_some_pieces_have_is_missing_in_the_others():
    """A source may gain a signal; the time before it had none."""
    whole = joined([Trace(GPU, [0], {}), Trace(GPU, [1], {"power_watts": [80]})])

    assert np.isnan(whole["power_watts"][0])
    assert whole["power_watts"][1] == 80
