"""Where a logged stretch really ended, as the sensors saw it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.detector import GPU_A, GPU_B, START_NS
from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.detect.settle import SETTLE_SECONDS, settled_stop_ns

NAN = float("nan")
TENTH_NS = 10**8
STOP_NS = START_NS + 9 * TENTH_NS + TENTH_NS // 4
"""The log ends amid a step, after the tenth sample; three more lie within reach."""


def trace_after(
    *after: float, before: float = 0.5, device: Device = GPU_A, channel: str = "tensor_active_ratio"
) -> Trace:
    """Return ten samples of work up to the logged end, and then these, ten a second."""
    activity = [*[before] * 10, *after]
    return Trace(device, [START_NS + index * TENTH_NS for index in range(len(activity))], {channel: activity})


def moved_steps(*traces: Trace) -> float:
    """Return by how many steps after its last sample the logged stretch ends."""
    stop_ns = settled_stop_ns(traces, START_NS, STOP_NS)
    return 0.0 if stop_ns == STOP_NS else (stop_ns - START_NS) / TENTH_NS - 9


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ((0.4, 0.1, 0.0, 0.0), 3),
        ((0.0, 0.0, 0.0, 0.0), 1),
        ((0.4, 0.05, 0.3, 0.5), 2),
        ((0.5, 0.5, 0.5, 0.5), 0),
        ((0.4, 0.3, 0.11, 0.0), 0),
        ((NAN, 0.0, NAN, 0.0), 2),
        ((NAN, NAN, NAN, 0.0), 0),
        ((), 0),
    ],
)
def test_the_end_moves_to_the_quietest_sample_that_follows(after: tuple[float, ...], expected: int):
    """Within 0.35 s, if it is below a fifth of the usual activity; else nobody can tell, the log stands."""
    assert moved_steps(trace_after(*after)) == expected


def test_the_latest_device_decides():
    """A job ends when the last of its devices does."""
    assert moved_steps(trace_after(0.0, 0.0, 0.0), trace_after(0.4, 0.3, 0.0, device=GPU_B)) == 3


def test_a_busy_device_does_not_hold_the_others_back():
    """One device went on with other work; the activity of the other still belongs to this run."""
    assert moved_steps(trace_after(0.5, 0.5, 0.5), trace_after(0.3, 0.0, 0.0, device=GPU_B)) == 2


def test_utilisation_stands_in_where_no_pipe_is_watched():
    """The rule is the same."""
    assert moved_steps(trace_after(1.0, 0.0, 0.0, before=1.0, channel="gpu_util_ratio")) == 2


@pytest.mark.parametrize(
    "trace",
    [
        trace_after(600.0, 80.0, 80.0, before=690.0, channel="power_watts"),
        trace_after(0.0, 0.0, before=NAN),
        trace_after(0.0, 0.0, before=0.0),
        Trace(GPU_A, [], {"tensor_active_ratio": []}),
    ],
)
def test_without_activity_to_compare_with_the_log_stands(trace: Trace):
    """Power alone, blanks, a stretch without work, no sample at all."""
    assert moved_steps(trace) == 0


@pytest.mark.parametrize(
    ("after", "expected"), [((0.4, 0.05, 0.0, 0.0), 3), ((0.5, 0.5, 0.5, 0.5), 0), ((0.4, 0.3, 0.15), 0)]
)
def test_a_run_with_long_pauses_still_settles(after: tuple[float, ...], expected: int):
    """Seven of ten samples idle: its end is quiet against the work, not against the pauses."""
    activity = [0.0, 0.5, *[0.0] * 6, 0.5, 0.5, *after]
    trace = Trace(
        GPU_A,
        [START_NS + index * TENTH_NS for index in range(len(activity))],
        {"tensor_active_ratio": activity},
    )

    assert moved_steps(trace) == expected


def test_how_far_to_look_can_be_said():
    """A sensor that lags by more needs a longer look; none at all leaves the log as it is."""
    trace = trace_after(0.5, 0.5, 0.5, 0.5, 0.5, 0.0)

    stops = [
        settled_stop_ns((trace,), START_NS, STOP_NS, settle_seconds=seconds) for seconds in (0.0, 0.5, 0.6)
    ]

    assert stops == [STOP_NS, STOP_NS, START_NS + 15 * TENTH_NS]


@given(after=st.lists(st.one_of(st.floats(0, 1), st.just(NAN)), max_size=8))
def test_the_end_never_moves_back_nor_further_than_looked(after: list[float]):
    """Whatever follows, the stretch keeps what was logged and gains at most the time that sensors lag."""
    stop_ns = settled_stop_ns((trace_after(*after),), START_NS, STOP_NS)

    assert STOP_NS <= stop_ns <= STOP_NS + round(SETTLE_SECONDS * 1e9)


def test_a_lost_sample_is_no_sign_of_quiet() -> None:
    """Zeros beside a blank DRAM share say nothing; the end waits for a sample that does."""
    tensor = [0.5] * 10 + [0.0, 0.5, 0.0]
    memory = [0.4] * 10 + [NAN, 0.4, 5e-6]
    times = [START_NS + index * TENTH_NS for index in range(len(tensor))]
    trace = Trace(GPU_A, times, {"tensor_active_ratio": tensor, "dram_active_ratio": memory})

    assert moved_steps(trace) == 3
