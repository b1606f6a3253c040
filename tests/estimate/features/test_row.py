"""A session as one row: what each column counts, what is unknown, and its laws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from estimate.made import (
    BOOST_HERTZ,
    BUSY,
    CEILING_FLOP_PER_SECOND,
    GPU_B,
    HMMA_FLOP_PER_CYCLE,
    N_SM,
    NAN,
    busy_trace,
    every,
    features_of,
    trace_of,
)
from flopwitness.core.device import Device
from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import Trace
from flopwitness.estimate.features.row import FEATURE_NAMES, session_features
from flopwitness.physics.chips import CHIPS, UnknownChipError


def test_every_column_counts_what_it_says():
    """4 s of steady work on one H200, by hand."""
    values = features_of(busy_trace(), idle_watts=80.0).values

    expected = {
        "duration_seconds": 4.0,
        "net_energy_joules": 4.0 * (600 - 80),
        "dram_bytes": 4.0 * 0.4 * 4.8e12,
        "nvlink_bytes": 4.0 * 5e9,
        "matrix_flop": 6e9 * N_SM * (0.4 * 4096 + 0.01 * 8192 + 0.001 * 256),
        "integer_matrix_flop": 6e9 * N_SM * 0.01 * 8192,
        "double_matrix_flop": 6e9 * N_SM * 0.001 * 256,
        "vector_flop": 6e9 * N_SM * (0.001 * 128 + 0.1 * 256 + 0.02 * 512),
        "tensor_cycles": 6e9 * 0.41,
        "fp32_cycles": 6e9 * 0.1,
        "int_cycles": 6e9 * 0.2,
        "sm_active_cycles": 6e9 * 0.9,
        "occupancy_cycles": 6e9 * 0.2,
        "activity_unobserved_seconds": 0.0,
        "power_unobserved_seconds": 0.0,
        "unobserved_ceiling_flop": 0.0,
        "observed_matrix_flop": values["matrix_flop"],
        "observed_vector_flop": values["vector_flop"],
        "observed_integer_matrix_flop": values["integer_matrix_flop"],
        "observed_double_matrix_flop": values["double_matrix_flop"],
    }
    assert dict(values) == pytest.approx(expected, rel=1e-9)


def test_energy_rests_on_the_power_sensor_that_answered_more_often():
    """Where the counter stands still, a mean power read seldom leaves steps unknown, an instant one not."""
    seldom = np.where(np.arange(41) % 20 == 0, 600.0, NAN)
    trace = trace_of(
        every(0.1, 41),
        **dict.fromkeys(BUSY, [0.4] * 41),
        sm_clock_hertz=[BOOST_HERTZ] * 41,
        power_watts=seldom,
        power_instant_watts=[500.0] * 41,
        energy_joules_total=[1e9] * 41,
    )

    values = features_of(trace, idle_watts=80.0).values

    assert values["net_energy_joules"] == pytest.approx(4.0 * (500 - 80))
    assert values["power_unobserved_seconds"] == 0.0


def test_the_row_is_in_the_order_of_the_names():
    """Estimators know columns by position; a calibration names them."""
    features = features_of(busy_trace(), idle_watts=80.0)

    assert_array_equal(features.row(), [features.values[name] for name in FEATURE_NAMES])
    assert set(features.values) == set(FEATURE_NAMES)


def test_activity_is_weighed_by_the_clock():
    """Half of the cycles at 1,980 MHz are 5.74 times half of those at 345 MHz (W5: ratios are per cycle)."""
    fast = features_of(busy_trace(11, sm_clock_hertz=1.98e9)).values
    slow = features_of(busy_trace(11, sm_clock_hertz=345e6)).values

    ratios = [
        fast[name] / slow[name] for name in ("matrix_flop", "vector_flop", "tensor_cycles", "int_cycles")
    ]

    assert ratios == pytest.approx([1980 / 345] * 4)


def test_a_clock_that_changes_is_taken_amid_each_step():
    """From 1 to 3 GHz over one step it was 2 GHz on average."""
    values = features_of(busy_trace(2, sm_clock_hertz=[1e9, 3e9])).values

    assert values["tensor_cycles"] == pytest.approx(0.41 * 2e9 * 0.1)


def test_devices_add_up():
    """Every column but the duration is a sum over the devices of a job."""
    one, other = busy_trace(), busy_trace(device=GPU_B, hmma_active_ratio=0.3, sm_clock_hertz=1.2e9)

    both = features_of(one, other, idle_watts=80.0).values
    apart = [features_of(trace, idle_watts=80.0).values for trace in (one, other)]

    summed = {name: apart[0][name] + apart[1][name] for name in FEATURE_NAMES}
    assert dict(both) == pytest.approx({**summed, "duration_seconds": 4.0})


def test_a_job_of_two_devices_tells_both_chips_and_what_both_offer():
    """A signal that one device lacks is no signal of the session."""
    features = features_of(busy_trace(), busy_trace(device=GPU_B, int_active_ratio=None))

    assert (features.n_devices, features.chips) == (2, ("H200-SXM", "H200-SXM"))
    assert "int_active_ratio" not in features.signals
    assert math.isnan(features.values["int_cycles"])


def test_a_chip_that_nobody_knows_is_refused():
    """Its widths are not taken from a neighbour."""
    with pytest.raises(UnknownChipError, match="unknown"):
        features_of(busy_trace(device=Device("GPU-a")))


INTEGER = {"integer_matrix_flop", "observed_integer_matrix_flop"}
DOUBLE = {"double_matrix_flop", "observed_double_matrix_flop"}
CYCLES = {"tensor_cycles", "fp32_cycles", "int_cycles", "sm_active_cycles", "occupancy_cycles"}


@pytest.mark.parametrize(
    ("absent", "unknown"),
    [
        ("dram_active_ratio", {"dram_bytes"}),
        ("int_active_ratio", {"int_cycles"}),
        ("nvlink_tx_bytes_total", {"nvlink_bytes"}),
        ("energy_joules_total power_watts", {"net_energy_joules"}),
        (
            "fp64_active_ratio fp32_active_ratio fp16_active_ratio",
            {"vector_flop", "observed_vector_flop", "fp32_cycles"},
        ),
        (
            "tensor_active_ratio hmma_active_ratio imma_active_ratio dfma_active_ratio",
            {"matrix_flop", "observed_matrix_flop", "tensor_cycles", *INTEGER, *DOUBLE},
        ),
        ("imma_active_ratio", INTEGER),
        ("dfma_active_ratio", DOUBLE),
        (
            "sm_clock_hertz",
            {"matrix_flop", "vector_flop", "integer_matrix_flop", "double_matrix_flop", *CYCLES},
        ),
    ],
)
def test_an_absent_signal_is_not_zero(absent: str, unknown: set[str]):
    """What nobody can know is NaN, and no other column suffers."""
    values = features_of(busy_trace(**dict.fromkeys(absent.split())), idle_watts=80.0).values

    assert {name for name in FEATURE_NAMES if math.isnan(values[name])} == unknown


def test_the_summary_stands_in_for_pipes_that_are_not_told_apart():
    """A DCGM exporter offers tensor activity alone by default; it is counted at the 16-bit rate."""
    pipes = dict.fromkeys(("hmma_active_ratio", "imma_active_ratio", "dfma_active_ratio"))

    values = features_of(busy_trace(**pipes)).values

    assert values["matrix_flop"] == pytest.approx(0.41 * 6e9 * HMMA_FLOP_PER_CYCLE)
    assert values["activity_unobserved_seconds"] == 0


def test_pipes_stand_in_for_the_summary():
    """Tensor cycles are those of all matrix pipes together."""
    values = features_of(busy_trace(tensor_active_ratio=None)).values

    assert values["tensor_cycles"] == pytest.approx((0.4 + 0.01 + 0.001) * 6e9)


def test_a_pipe_that_the_chip_does_not_have_counts_nothing():
    """A V100 has no integer matrix pipe, whatever a source prints for it; its tensor cores count."""
    volta = Device("GPU-a", chip="V100-SXM2")

    values = features_of(busy_trace(device=volta)).values

    assert values["matrix_flop"] == pytest.approx(0.4 * 6e9 * 80 * 1024)


@pytest.mark.parametrize("chip", CHIPS)
def test_no_chip_takes_matrix_work_for_nothing(chip: str):
    """Every chip of the table runs a 16-bit format on its tensor cores."""
    assert features_of(busy_trace(device=Device("GPU-a", chip=chip))).values["matrix_flop"] > 0


def test_without_any_pipe_all_time_is_unobserved():
    """Two devices of which one offers no profiling: its seconds stand at the ceiling."""
    blind = trace_of(every(0.1, 41), GPU_B, power_watts=600.0, sm_clock_hertz=1.5e9)

    features = features_of(busy_trace(), blind)

    assert features.values["activity_unobserved_seconds"] == pytest.approx(4.0)
    assert features.unobserved_ratio == pytest.approx(0.5)


@pytest.mark.parametrize(
    "channel", ["hmma_active_ratio", "imma_active_ratio", "fp32_active_ratio", "sm_clock_hertz"]
)
def test_a_blank_pipe_or_clock_leaves_its_step_at_the_ceiling(channel: str):
    """Work on one pipe is enough, so one pipe that gave no answer makes a step unobserved."""
    readings = np.full(41, 1.5e9 if channel == "sm_clock_hertz" else BUSY.get(channel))
    readings[20] = NAN
    n_steps = 2 if channel == "sm_clock_hertz" else 1  # a clock is read at both ends of a step

    values = features_of(busy_trace(**{channel: readings})).values

    assert values["activity_unobserved_seconds"] == pytest.approx(0.1 * n_steps)
    assert values["unobserved_ceiling_flop"] == pytest.approx(0.1 * n_steps * CEILING_FLOP_PER_SECOND)
    assert values["observed_matrix_flop"] == pytest.approx(values["matrix_flop"] * (40 - n_steps) / 40)
    assert values["matrix_flop"] == pytest.approx(features_of(busy_trace()).values["matrix_flop"])


def test_a_part_is_never_larger_than_the_whole():
    """Integer work in a step whose other pipe is blank is carried over with it, not beside it."""
    integer, common = np.where(np.arange(41) == 20, 0.5, 0.0), np.full(41, 0.4)
    common[20] = NAN
    pipes = {"imma_active_ratio": integer, "hmma_active_ratio": common, "dfma_active_ratio": 0.0}

    values = features_of(busy_trace(**pipes)).values

    assert values["integer_matrix_flop"] == 0.0
    assert values["observed_integer_matrix_flop"] == 0.0
    assert values["matrix_flop"] == pytest.approx(6e9 * N_SM * 0.4 * 4096)


def test_a_lost_sample_is_unobserved():
    """Zeros beside a blank DRAM share, amid full load, cost a step of evidence and no FLOP."""
    lost = {name: [*[BUSY[name]] * 20, 0.0, *[BUSY[name]] * 20] for name in BUSY}
    lost["dram_active_ratio"][20] = NAN

    values = features_of(busy_trace(**lost)).values

    assert values["matrix_flop"] == pytest.approx(features_of(busy_trace()).values["matrix_flop"])
    assert values["activity_unobserved_seconds"] == pytest.approx(0.1)


RATIOS = st.lists(st.floats(0.01, 1.0), min_size=12, max_size=12)


def drawn_trace(ratios: list[float], clocks: list[float], watts: list[float]) -> Trace:
    """Return twelve samples of drawn activity, clock and power, counters included."""
    counted = np.cumsum(watts)
    return trace_of(
        every(0.1, 12),
        **dict.fromkeys(BUSY, ratios),
        sm_clock_hertz=np.array(clocks) * BOOST_HERTZ,
        energy_joules_total=1e9 + 100 * counted,
        nvlink_tx_bytes_total=1e9 * counted,
        nvlink_rx_bytes_total=2e9 * counted,
    )


@settings(deadline=None)
@given(ratios=RATIOS, clocks=RATIOS, watts=RATIOS, at=st.floats(0.001, 0.999))
def test_a_session_that_is_cut_in_two_adds_up(
    ratios: list[float], clocks: list[float], watts: list[float], at: float
):
    """Every column of the whole is the sum of its parts, wherever the cut falls."""
    trace = drawn_trace(ratios, clocks, watts)
    first, last = int(trace.time_ns[0]), int(trace.time_ns[-1])
    middle = first + round(at * (last - first))
    idle = {"GPU-a": 80.0}

    whole = session_features(Session(first, last, (trace,)), idle)
    parts = [
        session_features(cut_session((trace,), *ends), idle) for ends in ((first, middle), (middle, last))
    ]

    assert parts[0].row() + parts[1].row() == pytest.approx(whole.row(), rel=1e-6, abs=1e-6)


@settings(deadline=None)
@given(ratios=RATIOS, clocks=RATIOS, watts=RATIOS, shift_ns=st.integers(-(10**17), 10**17))
def test_features_do_not_depend_on_the_date(
    ratios: list[float], clocks: list[float], watts: list[float], shift_ns: int
):
    """The same samples at another time give the same numbers, to the last bit."""
    trace = drawn_trace(ratios, clocks, watts)
    later = Trace(trace.device, trace.time_ns + shift_ns, trace.channels)

    assert_array_equal(features_of(later, idle_watts=80.0).row(), features_of(trace, idle_watts=80.0).row())
