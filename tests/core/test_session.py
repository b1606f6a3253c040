"""A Session: a stretch, its devices, and at most one sample beyond either end."""

import pytest

from flopwitness.core.device import Device
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import Trace

GPU_A, GPU_B = Device("GPU-a"), Device("GPU-b")
TENTH_NS = 10**8


def ticks(device: Device, n_samples: int = 10) -> Trace:
    """Return samples a tenth of a second apart."""
    return Trace(device, [index * TENTH_NS for index in range(n_samples)], {"power_watts": [80] * n_samples})


def test_cutting_keeps_the_neighbours_that_interpolation_needs():
    """One sample before the start and one after the stop, no more."""
    session = cut_session((ticks(GPU_A),), 250_000_000, 450_000_000)

    assert (session.traces[0].time_ns // TENTH_NS).tolist() == [2, 3, 4, 5]
    assert session.n_samples == 2


def test_a_cut_at_a_samples_instant_holds_that_sample():
    """The stretch is closed at both ends."""
    session = cut_session((ticks(GPU_A),), 2 * TENTH_NS, 4 * TENTH_NS)

    assert session.n_samples == 3
    assert session.duration_seconds == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("start_ns", "stop_ns", "traces", "said"),
    [
        (5, 5, (ticks(GPU_A),), "not after its start"),
        (0, 10**9, (), "needs a device"),
        (0, 10**9, (ticks(GPU_A), ticks(GPU_A)), "twice"),
        (5 * TENTH_NS, 10**9, (ticks(GPU_A),), "beyond"),
    ],
)
def test_what_is_no_session_cannot_exist(start_ns: int, stop_ns: int, traces: tuple[Trace, ...], said: str):
    """An empty stretch, nobody, the same device twice, or samples of another time."""
    with pytest.raises(InvalidNounError, match=said):
        Session(start_ns, stop_ns, traces)


def test_the_name_of_a_session_depends_on_stretch_and_devices_alone():
    """Found again in a re-read recording, in another order of devices, it is the same session."""
    traces = (ticks(GPU_A), ticks(GPU_B))
    first = cut_session(traces, 0, 4 * TENTH_NS)

    assert first.session_id == cut_session(traces[::-1], 0, 4 * TENTH_NS, name="run").session_id
    assert first.session_id != cut_session(traces, 0, 5 * TENTH_NS).session_id
    assert first.session_id != cut_session(traces[:1], 0, 4 * TENTH_NS).session_id
