"""Series of many labels become one trace a GPU, and every physical reading counts once."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace, joined
from flopwitness.telemetry.prometheus.names import SIGNALS
from flopwitness.telemetry.prometheus.pivot import Pivot, traces_of
from flopwitness.telemetry.prometheus.series import Series

SECOND = 10**9
POWER, ENERGY = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
TENSOR = "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"


def series(name: str, samples: Sequence[tuple[float, float]], **labels: str) -> Series:
    """Return a series of a GPU from seconds and values; ``UUID`` is GPU-a where not given."""
    times = np.array([round(seconds * SECOND) for seconds, _ in samples], dtype=np.int64)
    values = np.array([value for _, value in samples], dtype=np.float64)
    return Series({"__name__": name, "UUID": "GPU-a"} | labels, times, values)


def trace_of(*parts: Series) -> Trace:
    """Return the one trace that these give."""
    (trace,), _ = traces_of(parts)
    return trace


def told(*parts: Series) -> dict[str, str]:
    """Return what was lost: the message of each code."""
    return {finding.code: finding.message for finding in traces_of(parts)[1]}


@pytest.mark.parametrize("name", sorted(SIGNALS))
def test_every_name_of_every_field_is_its_channel(name: str):
    """Old names, names since 4.6 and ours are read by one table, in base units."""
    (trace,), findings = traces_of([series(name, [(0, 1.0)])])

    signal = SIGNALS[name]
    assert {channel: column.tolist() for channel, column in trace.channels.items()} == {
        signal.channel: [signal.factor]
    }
    assert [finding.code for finding in findings] == ["unit-ambiguous"] * signal.is_ambiguous


def test_a_channel_without_a_sample_is_missing_there():
    """Nothing is carried on from an earlier scrape, and what is missing is counted."""
    parts = (series(POWER, [(0, 80.0), (1, 90.0), (2, 95.0)]), series(TENSOR, [(0, 0.5), (2, 0.25)]))

    trace = trace_of(*parts)

    np.testing.assert_array_equal(trace["tensor_active_ratio"], [0.5, np.nan, 0.25])
    assert trace["power_watts"].tolist() == [80.0, 90.0, 95.0]
    assert told(*parts) == {
        "missing-values": "1 values of tensor_active_ratio are missing where other signals answered"
    }


def test_pods_and_containers_are_no_part_of_a_device():
    """A GPU whose pod changes is one series, and its counter does not start again."""
    trace = trace_of(
        series(ENERGY, [(0, 5000.0)], exported_pod="x", instance="a:9400"),
        series(ENERGY, [(1, 5500.0)], exported_pod="y", instance="b:9400"),
        series(ENERGY, [(2, 6000.0)]),
    )

    assert trace["energy_joules_total"].tolist() == [5.0, 5.5, 6.0]


def test_board_values_of_slices_count_once():
    """Energy of a board is repeated for each slice: one counter, never the sum."""
    trace = trace_of(
        series(ENERGY, [(0, 1_000_000.0), (1, np.nan)], GPU_I_ID="3"),
        series(ENERGY, [(0, 1_000_500.0), (1, 1_001_000.0)], GPU_I_ID="5"),
    )

    assert trace["energy_joules_total"].tolist() == [1000.0, 1001.0]


def test_activity_of_a_slice_is_not_that_of_its_gpu():
    """A slice's 0 of utilisation is no idle GPU, and its tensor share is of the slice."""
    parts = (
        series("DCGM_FI_DEV_GPU_UTIL", [(0, 0.0)], GPU_I_ID="1"),
        series(TENSOR, [(0, 0.9)], GPU_I_ID="1"),
        series(POWER, [(0, 300.0)], GPU_I_ID="1"),
    )

    assert list(trace_of(*parts).channels) == ["power_watts"]
    assert {"slice-activity", "not-applicable"} <= set(told(*parts))


def test_slices_whose_size_is_known_add_up_to_their_gpu():
    """Each slice's activity counts for its share of the SMs; pods split none of them."""
    parts = (
        series(TENSOR, [(0, 0.7)], GPU_I_ID="1", GPU_I_PROFILE="3g.40gb", pod="p1"),
        series(TENSOR, [(1, 0.35)], GPU_I_ID="1", GPU_I_PROFILE="3g.40gb", pod="p2"),
        series(TENSOR, [(0, 0.7), (1, 0.0)], GPU_I_ID="5", GPU_I_PROFILE="1g.10gb"),
    )

    assert trace_of(*parts)["tensor_active_ratio"].tolist() == pytest.approx([0.4, 0.15])


def test_a_slice_that_keeps_silent_makes_the_gpu_unknown():
    """It may be at work; one that is not there at all adds nothing."""
    parts = (
        series(TENSOR, [(0, 0.7), (1, 0.7), (2, 0.7)], GPU_I_ID="1", GPU_I_PROFILE="3g.40gb"),
        series(TENSOR, [(0, 0.7), (1, 140737488355328)], GPU_I_ID="5", GPU_I_PROFILE="1g.10gb"),
        series(POWER, [(0, 400.0), (1, 400.0), (2, 400.0)], GPU_I_ID="1"),
    )

    np.testing.assert_allclose(trace_of(*parts)["tensor_active_ratio"], [0.4, np.nan, 0.3])


def test_utilisation_of_a_gpu_in_slices_is_no_idleness():
    """The board's own series reads 0 there too."""
    parts = (
        series("DCGM_FI_DEV_GPU_UTIL", [(0, 0.0)]),
        series("DCGM_FI_PROF_SM_ACTIVE", [(0, 0.7)], GPU_I_ID="1", GPU_I_PROFILE="7g.80gb"),
    )

    assert list(trace_of(*parts).channels) == ["sm_active_ratio"]
    assert list(told(*parts)) == ["not-applicable"]


def test_both_spellings_of_the_host_that_differ_are_a_contradiction():
    """One of them is wrong."""
    parts = (series(POWER, [(0, 1.0)], Hostname="n1", hostname="n2"),)

    assert "host-conflict" in told(*parts)


def test_one_host_under_both_spellings():
    """``Hostname`` became ``hostname``."""
    trace = trace_of(series(POWER, [(0, 1.0)], Hostname="n1"), series(POWER, [(1, 2.0)], hostname="n1"))

    assert (trace.device.host, trace["power_watts"].tolist()) == ("n1", [1.0, 2.0])


def test_two_hosts_of_one_gpu_are_a_contradiction():
    """A UUID sits in one machine."""
    parts = (series(POWER, [(0, 1.0)], hostname="n1"), series(POWER, [(1, 2.0)], hostname="n2"))

    assert trace_of(*parts).device.host == "n1"
    assert "host-conflict" in told(*parts)


@pytest.mark.parametrize("label", ["modelName", "model_name", "chip"])
def test_the_chip_is_told_from_its_product_name(label: str):
    """Exporters spell the label in several ways; ours gives the table's own name."""
    assert trace_of(series(POWER, [(0, 1.0)], **{label: "NVIDIA H200"})).device.chip == "H200-SXM"


@pytest.mark.parametrize("blank", [9223372036854775794, 140737488355328, 0x7FFFFFF0])
def test_a_blank_of_dcgm_is_missing(blank: float):
    """Not supported is neither a large number nor zero."""
    trace = trace_of(series(TENSOR, [(0, blank), (1, 0.5)]), series(POWER, [(0, 1.0), (1, 1.0)]))

    np.testing.assert_array_equal(trace["tensor_active_ratio"], [np.nan, 0.5])


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        (TENSOR, 1.5, "quarantined"),
        (TENSOR, -0.5, "quarantined"),
        (POWER, -1.0, "quarantined"),
        (ENERGY, 1e25, "quarantined"),
        (POWER, np.inf, "infinite-value"),
        (ENERGY, 1e308, "quarantined"),
    ],
)
def test_the_impossible_is_taken_out_and_counted(name: str, value: float, code: str):
    """A share of 150 % is no measurement; it is not clamped to 100 %."""
    parts = (series(name, [(0, value), (1, 0.5)]),)

    assert trace_of(*parts).time_ns.tolist() == [SECOND]
    assert list(told(*parts)) == [code]


def test_rates_are_rates_under_any_name():
    """Old exporters typed bytes a second as a counter; our table says what they are."""
    trace = trace_of(series("DCGM_FI_PROF_PCIE_TX_BYTES", [(0, 5e8), (1, 5e8), (2, 5e8)]))

    assert trace["pcie_tx_bytes_per_second"].tolist() == [5e8] * 3


def test_what_is_no_channel_is_set_aside():
    """It is said, with the reason."""
    parts = (
        series(POWER, [(0, 1.0)]),
        series("DCGM_FI_DEV_FAN", [(0, 1.0)]),
        series(POWER, [(0, 1.0)], UUID=""),
    )

    assert list(trace_of(*parts).channels) == ["power_watts"]
    assert set(told(*parts)) == {"unknown-column", "uuid-missing"}


def test_a_rate_under_a_counters_name_is_flagged_and_no_channel_that_counts():
    """Field 449 is in 1000 KiB/s; its own channel keeps it from every estimate."""
    parts = (series("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", [(0, 1000.0)]),)

    assert trace_of(*parts)["nvlink_unclear_bytes_per_second"].tolist() == [1.024e9]
    assert list(told(*parts)) == ["unit-ambiguous"]


def test_an_instant_at_which_nothing_answered_is_no_sample():
    """A stale mark only says that a scrape failed."""
    trace = trace_of(
        series(POWER, [(0, 1.0), (1, np.nan), (2, 3.0)]), series(TENSOR, [(0, 0.5), (1, np.nan)])
    )

    assert trace.time_ns.tolist() == [0, 2 * SECOND]


def test_samples_are_sorted_and_repeats_dropped():
    """Out of order and twice the same: no reset, no spike."""
    trace = trace_of(series(ENERGY, [(0, 100.0), (20, 120.0), (10, 110.0), (10, 110.0)]))

    assert trace["energy_joules_total"].tolist() == [0.1, 0.11, 0.12]


def test_of_two_values_of_one_instant_the_first_stays_and_it_is_told():
    """A contradiction is no average."""
    parts = (series(POWER, [(0, 1.0), (0, 2.0), (1, 5.0)]), series(POWER, [(1, 6.0)], pod="x"))

    assert trace_of(*parts)["power_watts"].tolist() == [1.0, 5.0]
    assert told(*parts) == {
        "duplicate-times": "2 samples of power_watts repeat an instant with another value; the first was kept"
    }


def test_two_exporters_of_one_gpu_are_not_mixed():
    """DCGM's exporter and ours are scraped apart; the one with more samples is taken, the other counted."""
    parts = (
        series("flopwitness_gpu_power_watts", [(0.5, 79.0)]),
        series(POWER, [(0, 80.0), (1, 81.0)]),
    )

    assert trace_of(*parts)["power_watts"].tolist() == [80.0, 81.0]
    assert list(told(*parts)) == ["other-source"]


def test_known_samples_are_not_given_again():
    """Reading goes on after the last instant of each device."""
    parts = [series(POWER, [(0, 1.0), (1, 2.0)]), series(POWER, [(0, 1.0), (1, 2.0)], UUID="GPU-b")]

    traces, _ = traces_of(parts, after_ns={"GPU-a": 0, "GPU-b": SECOND})

    assert [(trace.device.uuid, trace["power_watts"].tolist()) for trace in traces] == [("GPU-a", [2.0])]


def test_a_device_stays_who_it_was():
    """A later answer that lacks the host, or names another chip, makes no second device of the same UUID."""
    pivot = Pivot(devices=[Device("GPU-a", chip="H200-SXM", host="n1")])

    (piece,) = pivot.take([series(POWER, [(0, 1.0)])])

    assert piece.device == Device("GPU-a", chip="H200-SXM", host="n1")


@given(
    powers=st.lists(st.floats(0, 1000) | st.just(np.nan), min_size=1, max_size=30),
    cuts=st.sets(st.integers(0, 30)),
    overlap=st.integers(0, 3),
)
def test_windows_that_overlap_give_each_sample_once(powers: list[float], cuts: set[int], overlap: int):
    """However a stretch is cut into windows, the pieces are the whole."""
    samples = [(float(second), watts) for second, watts in enumerate(powers)]
    clock = [(second, 345.0) for second, _ in samples]
    edges = sorted({0, len(samples), *(cut for cut in cuts if cut < len(samples))})
    pivot = Pivot()

    pieces = [
        piece
        for start, stop in pairwise(edges)
        for piece in pivot.take(
            [
                series(POWER, samples[max(start - overlap, 0) : stop]),
                series("DCGM_FI_DEV_SM_CLOCK", clock[max(start - overlap, 0) : stop], pod=str(start)),
            ]
        )
    ]

    whole = joined(pieces)
    assert whole.time_ns.tolist() == [second * SECOND for second in range(len(powers))]
    np.testing.assert_array_equal(whole.column("power_watts"), powers)
