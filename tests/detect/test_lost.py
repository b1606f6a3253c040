"""Zeros that mean nothing, told from zeros that mean idle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from estimate.made import NAN, every, trace_of
from flopwitness.core.trace import Trace
from flopwitness.detect.lost import ACTIVITY, lost_samples, without_lost_samples

NAMES = ("hmma_active_ratio", "int_active_ratio", "sm_active_ratio", "dram_active_ratio")

LOOKS = {
    "busy": (0.4, 0.2, 0.9, 0.4),
    "blank DRAM": (0.0, 0.0, 0.0, NAN),
    "all zero": (0.0, 0.0, 0.0, 0.0),
    "idle": (0.0, 0.0, 0.0, 5e-6),
    "unanswered": (NAN, NAN, NAN, NAN),
}


def trace_looking(*looks: str) -> Trace:
    """Return a trace with one sample a look."""
    columns = np.array([LOOKS[look] for look in looks]).T
    return trace_of(every(0.1, len(looks)), **dict(zip(NAMES, columns, strict=True)))


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        (("busy", "blank DRAM", "busy"), [False, True, False]),
        (("blank DRAM", "blank DRAM", "blank DRAM"), [True, True, True]),
        (("busy", "all zero", "busy"), [False, True, False]),
        (("busy", "all zero", "all zero", "busy"), [False] * 4),
        (("busy", "all zero", "idle"), [False] * 3),
        (("all zero", "busy", "all zero"), [False] * 3),
        (("busy", "all zero", "unanswered"), [False, True, False]),
        (("busy", "idle", "busy"), [False] * 3),
        (("busy", "unanswered", "busy"), [False] * 3),
    ],
)
def test_only_zeros_that_nothing_explains_are_lost(looks: tuple[str, ...], expected: list[bool]):
    """A blank DRAM share beside zeros, or one exact zero amid work; a pause of several zeros is believed."""
    assert_array_equal(lost_samples(trace_looking(*looks)), expected)


def test_a_lost_sample_answers_nothing():
    """Every activity becomes NaN, so that its step is unobserved; power and clock are kept."""
    trace = trace_of(
        every(0.1, 3), **{name: [0.4, 0.0, 0.4] for name in NAMES}, power_watts=[690.0, 691.0, 692.0]
    )

    cleaned = without_lost_samples(trace)

    assert all(np.isnan(cleaned[name][1]) for name in NAMES)
    assert_array_equal(cleaned["power_watts"], trace["power_watts"])
    assert [float(cleaned[name][2]) for name in NAMES] == [0.4] * 4


def test_a_pause_stays_idle():
    """Nothing is taken out of a trace whose zeros are all believed."""
    trace = trace_looking("busy", "all zero", "all zero", "busy")

    assert without_lost_samples(trace) is trace


@pytest.mark.parametrize("names", [(), ("dram_active_ratio",), ("hmma_active_ratio", "int_active_ratio")])
def test_without_memory_and_a_pipe_nothing_can_be_called_lost(names: tuple[str, ...]):
    """What tells lost from idle is the memory share beside the pipes."""
    trace = trace_of(every(0.1, 3), power_watts=690.0, **{name: [0.4, 0.0, 0.4] for name in names})

    assert not lost_samples(trace).any()


@given(
    looks=st.lists(st.sampled_from(sorted(LOOKS)), min_size=1, max_size=12),
    blanks=st.sets(st.tuples(st.sampled_from(NAMES), st.integers(0, 11))),
)
def test_a_blank_never_makes_a_sample_believable(looks: list[str], blanks: set[tuple[str, int]]):
    """Whoever blanks readings cannot turn a lost sample into an idle one: it stays lost or unanswered."""
    trace = trace_looking(*looks)
    blanked = {name: trace[name].copy() for name in NAMES}
    for name, index in blanks:
        blanked[name][index % len(trace)] = NAN

    before = without_lost_samples(trace)
    after = without_lost_samples(Trace(trace.device, trace.time_ns, blanked))

    assert all(np.isnan(after[name])[np.isnan(before[name])].all() for name in NAMES)


def test_what_is_blanked_is_all_that_profiling_answers():
    """One source answers all of them at once, or none; energy, power and clocks come from another."""
    assert {"tensor_active_ratio", "dram_active_ratio", "sm_occupancy_ratio"} <= set(ACTIVITY)
    assert not {"power_watts", "energy_joules_total", "sm_clock_hertz"} & set(ACTIVITY)
