"""dcgm-exporter's text: one scrape, many scrapes, stamps of either kind, and what such files really hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.format import START_NS, FormatContract, codes, reader_of, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import NOTHING_ASKED, Asked
from flopwitness.telemetry.readers.formats.exporter_text import FORMAT

SECOND = 10**9
ASKED = Asked(start_ns=START_NS, period_seconds=10.0)
SCRAPE = """\
# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{{gpu="0",UUID="GPU-aaaa",modelName="NVIDIA H100 80GB HBM3",hostname="n1"}} {0}.1
DCGM_FI_DEV_POWER_USAGE{{gpu="1",UUID="GPU-bbbb",modelName="NVIDIA H100 80GB HBM3",hostname="n1"}} NaN
# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{UUID="GPU-aaaa", gpu="0",Hostname="n1"}} {0}00120
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{UUID="GPU-bbbb", gpu="1",Hostname="n1"}} {0}00450
DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{{gpu="0",UUID="GPU-aaaa",pod="a}}b\\"c"}} 0.5
DCGM_FI_DEV_MEMORY_TEMP{{gpu="0",UUID="GPU-aaaa"}} 9223372036854775794
"""
SCRAPES = "".join(SCRAPE.format(value) for value in (412, 413, 414)).encode()


class TestScrapes(FormatContract):
    """Three scrapes, one behind the other, without a stamp."""

    form = FORMAT
    sample = SCRAPES
    asked = ASKED


class TestStamped(FormatContract):
    """Stamps in milliseconds."""

    form = FORMAT
    sample = b"""DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-aaaa"} 412.1 1770091506100
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-aaaa"} 97 1770091506100
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-aaaa"} 413.5 1770091507100
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-aaaa"} 98 1770091507100
"""


def columns(text: str, asked: Asked = ASKED) -> dict[str, dict[str, list[float]]]:
    """Return the values of each device and channel."""
    traces = recording_of_bytes(text.encode(), asked).traces
    return {t.device.uuid: {name: column.tolist() for name, column in t.channels.items()} for t in traces}


def test_each_scrape_is_a_sample_a_period_after_the_one_before():
    """A scrape begins where a series comes again."""
    first, second = recording_of_bytes(SCRAPES, ASKED).traces

    assert (first.device.uuid, first.device.chip, first.device.host) == ("GPU-aaaa", "H100-SXM", "n1")
    assert first.time_ns.tolist() == [START_NS, START_NS + 10 * SECOND, START_NS + 20 * SECOND]
    assert {name: column.tolist() for name, column in first.channels.items()} == {
        "power_watts": [412.1, 413.1, 414.1],
        "energy_joules_total": [41200.12, 41300.12, 41400.12],
        "tensor_active_ratio": [0.5, 0.5, 0.5],
    }
    assert second["energy_joules_total"].tolist() == pytest.approx([41200.45, 41300.45, 41400.45])


@pytest.mark.parametrize(
    ("asked", "option"), [(NOTHING_ASKED, "--start"), (Asked(start_ns=START_NS), "--period")]
)
def test_time_is_never_invented(asked: Asked, option: str):
    """A plain scrape has none, and several need a period."""
    with pytest.raises(BadInputError, match=option):
        recording_of_bytes(SCRAPES, asked)


def test_one_scrape_needs_no_period():
    """It has one instant."""
    (trace, _) = recording_of_bytes(SCRAPE.format(412).encode(), Asked(start_ns=START_NS)).traces

    assert trace.time_ns.tolist() == [START_NS]


def test_open_metrics_stamps_are_seconds():
    """They have a fraction, and the text ends in ``# EOF``."""
    text = b"""# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a"} 300 1770091506.5
DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a"} 301 1770091507
# EOF
"""

    (trace,) = recording_of_bytes(text).traces

    assert trace.time_ns.tolist() == [START_NS + SECOND // 2, START_NS + SECOND]


def test_a_value_that_is_no_number_costs_its_line_alone():
    """The rest of the scrape is read, and the line is counted (microsoft/pai issue 949)."""
    reader = reader_of(b'power_draw{gpu="0"} N/A\npower_draw{gpu="1"} 300\n', ASKED)

    (trace,) = reader.recording.traces

    assert (trace.device.uuid, trace["power_watts"].tolist()) == ("some-upload:1", [300.0])
    assert [f.message for f in reader.recording.findings if f.code == "bad-row"] == [
        "1 lines hold no number and were left out, the first in line 1"
    ]
    assert "uuid-inferred" in codes(reader.recording.findings)


@pytest.mark.parametrize("stamped", [True, False])
def test_labels_of_pods_and_hosts_split_no_gpu(stamped: bool):
    """Identity is the UUID: a counter whose pod changes goes on (dcgm-exporter issues 237 and 340)."""
    lines = [
        'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="a",exported_pod="p1",Hostname="n1"} 5000',
        'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="a",exported_pod="p2",hostname="n1"} 6000',
        'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="a"} 7000',
    ]
    stamps = [f" {1770091506000 + 10_000 * place}" if stamped else "" for place in range(3)]
    text = "".join(f"{line}{stamp}\n" for line, stamp in zip(lines, stamps, strict=True))

    (trace,) = recording_of_bytes(text.encode(), ASKED).traces

    assert trace["energy_joules_total"].tolist() == [5.0, 6.0, 7.0]
    assert trace.time_ns.tolist() == [START_NS + 10 * SECOND * place for place in range(3)]
    assert trace.device.host == "n1"


def test_a_gpu_that_pods_share_is_one_sample_a_scrape():
    """The exporter prints it once for each of them, with one value."""
    shared = (
        'DCGM_FI_DEV_POWER_USAGE{UUID="a",pod="p1"} 300\nDCGM_FI_DEV_POWER_USAGE{UUID="a",pod="p2"} 300\n'
    )

    assert columns(shared * 2) == {"a": {"power_watts": [300.0, 300.0]}}


def test_slices_share_their_board_and_add_up_to_their_gpu():
    """Energy counts once; activity counts by the slice's size; utilisation of 0 is no idleness."""
    text = """\
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-a",GPU_I_ID="3",GPU_I_PROFILE="3g.40gb"} 1000000
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-a",GPU_I_ID="5",GPU_I_PROFILE="1g.10gb"} 1000500
DCGM_FI_PROF_SM_ACTIVE{UUID="GPU-a",GPU_I_ID="3",GPU_I_PROFILE="3g.40gb"} 0.7
DCGM_FI_PROF_SM_ACTIVE{UUID="GPU-a",GPU_I_ID="5",GPU_I_PROFILE="1g.10gb"} 0.0
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-a",GPU_I_ID="3",GPU_I_PROFILE="3g.40gb"} 0
DCGM_FI_PROF_PCIE_TX_BYTES{UUID="GPU-a",GPU_I_ID="3",GPU_I_PROFILE="3g.40gb"} 9223372036854775792
"""

    found = columns(text)

    assert found == {"GPU-a": {"energy_joules_total": [1000.0], "sm_active_ratio": [pytest.approx(0.3)]}}


@pytest.mark.parametrize(
    ("line", "channel", "value"),
    [
        ('DCGM_FI_PROF_TENSOR_UTIL_RATIO{UUID="a"} 0.55', "tensor_active_ratio", 0.55),
        ('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total{UUID="a"} 5000', "energy_joules_total", 5.0),
        ('dcgm_power_usage{gpu="0",uuid="a"} 250.5', "power_watts", 250.5),
        ('dcgm_gpu_utilization{gpu="0",uuid="a"} 97', "gpu_util_ratio", 0.97),
        ('DCGM_FI_DEV_FB_USED{UUID="a"} 70000', "memory_used_bytes", 70000 * 1048576.0),
        ('DCGM_FI_DEV_XID_ERRORS{UUID="a"} 31', "xid_code", 31.0),
    ],
)
def test_names_of_all_ages_are_one_channel(line: str, channel: str, value: float):
    """Old names, names since 4.6, names of exporter 1.x, and counters renamed by a parser."""
    assert columns(f"{line}\n") == {"a": {channel: [value]}}


def test_a_type_line_changes_no_meaning():
    """A rate typed as a counter is a rate (dcgm-exporter issue 87)."""
    text = "# TYPE DCGM_FI_PROF_PCIE_TX_BYTES counter\n" + 'DCGM_FI_PROF_PCIE_TX_BYTES{UUID="a"} 5e8\n' * 3

    assert columns(text) == {"a": {"pcie_tx_bytes_per_second": [5e8] * 3}}


def test_field_449_is_flagged():
    """A rate in 1000 KiB/s under a counter's name, in a channel that nothing is estimated from."""
    recording = recording_of_bytes(b'DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{UUID="a"} 1000\n', ASKED)

    assert recording.traces[0]["nvlink_unclear_bytes_per_second"].tolist() == [1.024e9]
    assert "unit-ambiguous" in codes(recording.findings)


def test_lines_that_are_no_samples_are_counted():
    """Each costs itself; samples of other things and blank lines are no fault."""
    text = (
        'go_threads 9\n\nDCGM_X{gpu="0} 1\nDCGM_FI_DEV_POWER_USAGE{UUID="a"} 5\nDCGM_FI_DEV_SM_CLOCK{UUID\n'
    )

    recording = recording_of_bytes(text.encode(), ASKED)

    assert recording.traces[0]["power_watts"].tolist() == [5.0]
    assert [f.message for f in recording.findings if f.code == "bad-row"] == [
        "2 lines are neither samples nor comments and were left out, the first in line 3"
    ]


@given(
    powers=st.lists(st.floats(1, 1000), min_size=1, max_size=8),
    pods=st.lists(st.sampled_from(["", "p1", "p2"]), min_size=8, max_size=8),
    block_bytes=st.integers(1, 400),
)
def test_however_a_file_is_cut_into_blocks_its_scrapes_are_the_same(
    powers: list[float], pods: list[str], block_bytes: int
):
    """A scrape that a block ends in waits for the next block."""
    text = "".join(
        f'DCGM_FI_DEV_POWER_USAGE{{UUID="a",pod="{pod}"}} {watts}\n'
        f'DCGM_FI_DEV_SM_CLOCK{{UUID="a",pod="{pod}"}} 345\n'
        for watts, pod in zip(powers, pods, strict=False)
    )

    recording = reader_of(text.encode(), ASKED, block_bytes=block_bytes).recording

    assert recording.traces[0]["power_watts"].tolist() == powers
