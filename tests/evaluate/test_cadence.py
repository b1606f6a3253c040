"""A slower sampler: readings stay readings, means stay means of the whole step, counters stay counters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from flopwitness.core.channels import CANONICAL, PIPE_CHANNELS
from flopwitness.core.device import Device
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.evaluate.cadence import MEANS, sampled_every

TENTH_NS = 10**8
NAN = float("nan")

GAUGES = st.lists(st.floats(0, 1) | st.just(NAN), min_size=1, max_size=60)


def recording(time_ns: ArrayLike, **channels: ArrayLike) -> Recording:
    """Return a recording of one device."""
    trace = Trace(Device("GPU-a", chip="H200-SXM"), time_ns, channels)
    return Recording("made", (trace,), Provenance("made", interval_seconds=0.1))


def slower(seconds: float = 0.2, *, time_ns: ArrayLike | None = None, **channels: ArrayLike) -> Trace:
    """Return a trace at 10 Hz as it would have been at another interval."""
    n_samples = len(np.asarray(next(iter(channels.values()))))
    times = np.arange(n_samples) * TENTH_NS if time_ns is None else time_ns
    return sampled_every(recording(times, **channels), interval_seconds=seconds).traces[0]


def test_readings_are_kept_never_averaged():
    """Power, clock and utilisation are what stood there at the instant of the tick."""
    readings = [10.0, 99.0, 30.0, 99.0, 50.0]

    found = slower(power_instant_watts=readings, sm_clock_hertz=readings, gpu_util_ratio=np.array(readings))

    assert found.time_ns.tolist() == [0, 2 * TENTH_NS, 4 * TENTH_NS]
    for name in ("power_instant_watts", "sm_clock_hertz", "gpu_util_ratio"):
        assert found[name].tolist() == [10.0, 30.0, 50.0]


def test_a_mean_since_the_last_sample_becomes_the_mean_over_the_longer_step():
    """The driver would have computed it from the counters at both ends of the longer step, by time."""
    time_ns = [0, TENTH_NS // 2, 2 * TENTH_NS]

    found = slower(time_ns=time_ns, tensor_active_ratio=[0.0, 0.4, 0.8], sm_clock_hertz=[1.0, 1.0, 1.0])

    assert found["tensor_active_ratio"] == pytest.approx([0.0, (0.4 * 0.5 + 0.8 * 1.5) / 2])


@given(values=GAUGES, n_steps=st.integers(1, 7))
def test_the_integral_of_a_mean_does_not_depend_on_the_cadence(values: list[float], n_steps: int) -> None:
    """Mean x time, summed up to the last kept sample, is the same at any interval where all is known."""
    values = np.nan_to_num(values, nan=0.25)
    rate = slower(n_steps / 10, nvlink_tx_bytes_per_second=values)

    expected = float(values[1 : 1 + int(rate.time_ns[-1] // TENTH_NS)].sum()) * TENTH_NS
    actual = float(rate["nvlink_tx_bytes_per_second"][1:] @ np.diff(rate.time_ns))

    assert actual == pytest.approx(expected)


def test_a_blank_at_the_tick_is_blank_and_one_between_ticks_takes_nothing_away():
    """Nobody would have asked between the ticks; what was asked for at the tick and lost stays lost."""
    found = slower(dram_active_ratio=[0.1, NAN, 0.3, 0.5, NAN], sm_clock_hertz=[1.0] * 5)

    assert found["dram_active_ratio"][1] == 0.3
    assert np.isnan(found["dram_active_ratio"][2])


def test_a_sample_that_the_driver_lost_is_not_averaged_in():
    """Zeros that mean nothing would lower the mean of the step around them."""
    lost = {"tensor_active_ratio": [0.5, 0.5, 0.0, 0.5, 0.5], "sm_active_ratio": [0.9, 0.9, 0.0, 0.9, 0.9]}

    found = slower(0.4, **lost, dram_active_ratio=[0.3, 0.3, NAN, 0.3, 0.3])

    assert found["tensor_active_ratio"].tolist() == pytest.approx([0.5, 0.5])


def test_a_counter_counts_on_over_the_samples_left_out():
    """What it moved by between two ticks is what it really moved by."""
    found = slower(energy_joules_total=[0.0, 70.0, 90.0, 160.0, 200.0])

    assert found["energy_joules_total"].tolist() == [0.0, 90.0, 200.0]


def test_a_counter_read_between_the_ticks_is_interpolated_at_the_tick():
    """Costly counters are read seldom; the slower sampler would have read them at a tick of its own."""
    found = slower(energy_joules_total=[0.0, NAN, NAN, 60.0, NAN, 100.0, NAN])

    assert found["energy_joules_total"][:3] == pytest.approx([0.0, NAN, 80.0], nan_ok=True)
    assert np.isnan(found["energy_joules_total"][3])  # nothing was read after it


def test_a_counter_that_was_reset_is_not_interpolated():
    """A line from before a reset to after it shows a value that never stood there."""
    found = slower(energy_joules_total=[900.0, NAN, NAN, 10.0, NAN, 30.0, 40.0])

    assert found["energy_joules_total"].tolist() == pytest.approx([900.0, NAN, NAN, 40.0], nan_ok=True)


def test_a_gap_stays_a_gap():
    """A tick without a sample near it has none: what nobody saw is not made up."""
    time_ns = np.array([0, 1, 2, 20, 21, 22]) * TENTH_NS

    found = slower(0.5, time_ns=time_ns, power_watts=np.arange(6.0))

    assert (found.time_ns / TENTH_NS).tolist() == [0, 20]


@given(values=GAUGES)
def test_the_recorded_interval_changes_no_reading(values: list[float]) -> None:
    """Every sample is nearest its own tick."""
    found = slower(0.1, power_watts=values, tensor_active_ratio=values)

    for name in ("power_watts", "tensor_active_ratio"):
        np.testing.assert_allclose(found[name], values)


def test_the_recording_says_its_new_interval_and_keeps_its_name():
    """Whoever reads it must know that nobody sampled it like this."""
    found = sampled_every(recording([0, 1], power_watts=[1.0, 2.0]), interval_seconds=2.0)

    assert (found.name, found.provenance.interval_seconds) == ("made", 2.0)


def test_means_are_shares_of_pipes_and_memory_and_rates_of_traffic():
    """Utilisation and memory utilisation are readings: the driver averages them over a time of its own."""
    readings = {"gpu_util_ratio", "mem_util_ratio"}

    ratios: NDArray[np.str_] = np.array(sorted(name for name in CANONICAL if name.endswith("_ratio")))

    assert set(ratios.tolist()) - readings == {name for name in MEANS if name.endswith("_ratio")}
    assert set(PIPE_CHANNELS) < MEANS


@pytest.mark.parametrize("seconds", [0.0, -1.0, NAN, float("inf")])
def test_an_interval_that_is_none_is_refused(seconds: float) -> None:
    """There is no sampler that never waits, or always."""
    with pytest.raises(InvalidNounError):
        sampled_every(recording([0], power_watts=[1.0]), interval_seconds=seconds)
