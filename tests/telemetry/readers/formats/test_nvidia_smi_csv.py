"""``nvidia-smi --query-gpu`` logs, whatever fields were asked for."""

from datetime import UTC

import pytest

from contracts.format import START_NS, FormatContract, codes, reader_of, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.nvidia_smi_csv import FORMAT

IN_UTC = Asked(zone=UTC)
SAMPLE = b"""\
timestamp, index, uuid, power.draw [W], clocks.current.sm [MHz], utilization.gpu [%], clocks_event_reasons.active
2026/02/03 04:05:06.789, 0, GPU-aaaa, 412.10 W, 1755 MHz, 97 %, 0x0000000000000004
2026/02/03 04:05:06.792, 1, GPU-bbbb, [N/A], 345 MHz, 0 %, 0x0000000000000001
2026/02/03 04:05:07.789, 0, GPU-aaaa, 413.25 W, 1740 MHz, 98 %, 0x0000000000000004
2026/02/03 04:05:07.792, 1, GPU-bbbb, 74.20 W, 345 MHz, 0 %, 0x0000000000000001
"""  # noqa: E501
TICKS = b"""\
timestamp, power.draw [W]
2026/02/03 04:05:06.789, 400.00 W
2026/02/03 04:05:06.792, 70.00 W
2026/02/03 04:05:07.789, 410.00 W
2026/02/03 04:05:07.792, 71.00 W
"""
TURING = b"""\
timestamp, uuid, power.draw.average [W], power.draw [W]
2026/02/03 04:05:06.000, GPU-a, [N/A], 70.00 W
2026/02/03 04:05:06.001, GPU-b, 300.00 W, 300.00 W
"""
NO_HEADER = b"""\
2026/02/03 04:05:06.789, 0, GPU-aaaa, 412.10 W, 1755 MHz, 97 %
2026/02/03 04:05:07.789, 0, GPU-aaaa, 413.25 W, 1740 MHz, 98 %
"""
NO_UNITS_ANYWHERE = b"2026/02/03 04:05:06.789, 0, 412.10, 1755, 97\n"


class TestNvidiaSmiCsv(FormatContract):
    """Values with units, a mask in hexadecimal, a blank."""

    form = FORMAT
    sample = SAMPLE
    asked = IN_UTC
    needs_zone = True


class TestWithoutGpuColumn(FormatContract):
    """GPUs told by their place in the tick, whatever the size of the blocks."""

    form = FORMAT
    sample = TICKS
    asked = IN_UTC
    needs_zone = True


class TestWithoutHeader(FormatContract):
    """Columns told by units in cells."""

    form = FORMAT
    sample = NO_HEADER
    asked = IN_UTC
    needs_zone = True


def test_every_cell_arrives_in_base_units():
    """Watts, hertz, ratios and masks; a blank is missing, its row stays."""
    first, second = recording_of_bytes(SAMPLE, IN_UTC).traces

    assert (first.device.uuid, second.device.uuid) == ("GPU-aaaa", "GPU-bbbb")
    assert first.time_ns.tolist() == [START_NS + 789_000_000, START_NS + 1_789_000_000]
    assert {name: column.tolist() for name, column in first.channels.items()} == {
        "power_watts": [412.1, 413.25],
        "sm_clock_hertz": [1.755e9, 1.74e9],
        "gpu_util_ratio": [0.97, 0.98],
        "throttle_reasons_mask": [4.0, 4.0],
    }
    assert str(second["power_watts"].tolist()) == "[nan, 74.2]"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b", ", b","),
        (b" W,", b","),
        (b"clocks_event_reasons", b"clocks_throttle_reasons"),
        (b"clocks.current.sm", b"clocks.sm"),
        (b"power.draw [W]", b"gpu.power.draw.average [W]"),
        (b"timestamp,", b"Timestamp,"),
    ],
)
def test_the_same_log_under_other_spellings_reads_the_same(old: bytes, new: bytes):
    """Commas with and without blanks, ``nounits``, and the names of older and newer drivers."""
    spelt_otherwise = SAMPLE.replace(old, new)

    digests = [trace.digest() for trace in recording_of_bytes(spelt_otherwise, IN_UTC).traces]

    assert digests == [trace.digest() for trace in recording_of_bytes(SAMPLE, IN_UTC).traces]


@pytest.mark.parametrize(
    "header",
    [
        "timestamp, name, utilization.gpu [%], utilization.memory [%], memory.used [MiB], power.draw [W]",
        "timestamp, power.draw [W], temperature.gpu, clocks.current.sm [MHz], clocks.current.memory [MHz]",
        "timestamp, power.draw [W], memory.used [MiB], utilization.gpu [%], pstate",
        "timestamp, power.draw [W], utilization.gpu [%], memory.used [MiB]",
        "timestamp,index,power.draw [W],clocks.current.sm [MHz],utilization.gpu [%],utilization.memory [%]",
        "timestamp, clocks.sm [MHz], clocks.mem [MHz], temperature.gpu, power.draw [W], utilization.gpu [%]",
        "timestamp, power.draw [W], clocks_event_reasons.active",
    ],
)
def test_headers_seen_in_public_are_read_without_a_surprise(header: str):
    """Whatever was asked for, in any order; nothing is set aside as unknown."""
    cells = {"timestamp": "2026/02/03 04:05:06.789", "name": "NVIDIA H200", "pstate": "P0", "index": "0"}
    row = ", ".join(cells.get(column.split("[")[0].strip(), "50") for column in header.split(","))

    recording = recording_of_bytes(f"{header}\n{row}\n".encode(), IN_UTC)

    assert recording.traces[0]["power_watts"].tolist() == [50.0]
    assert not codes(recording.findings) & {"unknown-column", "unknown-unit", "bad-cell", "bad-row"}


def test_a_unit_in_the_header_is_believed_for_bare_cells():
    """``nounits`` leaves milliwatts in the header alone."""
    log = b"timestamp,uuid,power.draw [mW]\n2026/02/03 04:05:06,GPU-a,412100\n"

    assert recording_of_bytes(log, IN_UTC).traces[0]["power_watts"].tolist() == [412.1]


def test_rows_without_a_gpu_column_are_told_by_their_place_in_the_tick():
    """The identity is inferred, and a finding says so."""
    reader = reader_of(TICKS, IN_UTC)

    assert [trace["power_watts"].tolist() for trace in reader.recording.traces] == [
        [400.0, 410.0],
        [70.0, 71.0],
    ]
    assert "identity-inferred" in codes(reader.recording.findings)


def test_a_fast_log_of_one_gpu_is_not_taken_for_ticks_of_many():
    """Rows 20 ms apart without end are one GPU's."""
    stamps = (
        f"2026/02/03 04:05:{second:02d}.{part:03d}" for second in range(4) for part in range(0, 1000, 20)
    )
    log = "timestamp, power.draw [W]\n" + "".join(f"{stamp}, 400.00 W\n" for stamp in stamps)

    (trace,) = recording_of_bytes(log.encode(), IN_UTC).traces

    assert len(trace) == 200


def test_a_missing_power_costs_the_cell():
    """``[N/A]`` is missing, counted once, and its neighbour is read (github.com/anderskm/gputil/issues/5)."""
    header = b"timestamp, uuid, power.draw [W], clocks.current.sm [MHz]\n"
    log = header + b"2026/02/03 04:05:06.789, GPU-a, [N/A], 345 MHz\n"

    recording = recording_of_bytes(log, IN_UTC)

    assert recording.traces[0]["sm_clock_hertz"].tolist() == [3.45e8]
    assert "power_watts" not in recording.traces[0]
    assert any(found.message.startswith("1 cells") for found in recording.findings)


def test_an_unknown_error_costs_the_cell():
    """``[Unknown Error]`` in one column leaves the row (github.com/enkore/i3pystatus/pull/850)."""
    header = b"timestamp, uuid, power.draw [W], clocks.current.sm [MHz]\n"
    log = header + b"2026/02/03 04:05:06.789, GPU-a, 228.82 W, [Unknown Error]\n"

    (trace,) = recording_of_bytes(log, IN_UTC).traces

    assert trace["power_watts"].tolist() == [228.82]


def test_a_lost_gpu_hides_no_other():
    """Its samples end, the seven others go on (github.com/rossumai/nvgpu/issues/6)."""
    header = "timestamp, index, uuid, power.draw [W]\n"
    sound = "".join(f"2026/02/03 04:05:06.00{n}, {n}, GPU-{n}, 400.00 W\n" for n in range(8))
    lost = "".join(
        f"2026/02/03 04:05:07.00{n}, {n}, "
        + (f"GPU-{n}, 400.00 W\n" if n != 3 else "[GPU is lost], [GPU is lost]\n")
        for n in range(8)
    )

    recording = recording_of_bytes((header + sound + lost).encode(), IN_UTC)

    assert {trace.device.uuid: len(trace) for trace in recording.traces} == {
        f"GPU-{n}": 1 if n == 3 else 2 for n in range(8)
    }
    (told,) = [found for found in recording.findings if found.code == "gpu-lost"]
    assert (told.subject, told.start_ns) == ("GPU-3", START_NS + 1_003_000_000)


def test_a_gpu_lost_throughout_leaves_the_seven_others():
    """It has no sample, hence no trace; a finding names it."""
    header = "timestamp, index, power.draw [W]\n"
    rows = "".join(
        f"2026/02/03 04:05:06.00{n}, {n}, {'[GPU is lost]' if n == 5 else '400.00 W'}\n" for n in range(8)
    )

    recording = recording_of_bytes((header + rows).encode(), IN_UTC)

    assert len(recording.traces) == 7
    assert [found.subject for found in recording.findings if found.code == "gpu-lost"] == ["some-upload:5"]


def test_power_beside_an_average_without_answer_is_the_instant_value():
    """Turing offers no average; a GPU that does keeps its power."""
    turing, ampere = recording_of_bytes(TURING, IN_UTC).traces

    assert {name: column.tolist() for name, column in turing.channels.items()} == {
        "power_instant_watts": [70.0],
    }
    assert ampere["power_watts"].tolist() == [300.0]


def test_without_a_header_units_in_cells_tell_columns():
    """Power, utilisation and UUID can be told; a clock could be the memory's, hence is set aside."""
    recording = recording_of_bytes(NO_HEADER, IN_UTC)

    (trace,) = recording.traces
    assert trace.device.uuid == "GPU-aaaa"
    assert {name: column.tolist() for name, column in trace.channels.items()} == {
        "power_watts": [412.1, 413.25],
        "gpu_util_ratio": [0.97, 0.98],
    }
    assert "header-inferred" in codes(recording.findings)


def test_without_header_and_units_a_log_is_refused_in_one_line():
    """Nobody can tell its columns."""
    with pytest.raises(BadInputError, match="drop noheader or nounits"):
        recording_of_bytes(NO_UNITS_ANYWHERE, IN_UTC)


def test_a_log_without_a_time_column_is_refused_in_one_line():
    """The line says what to add."""
    with pytest.raises(BadInputError, match="timestamp"):
        recording_of_bytes(b"index, power.draw [W]\n0, 412.10 W\n", IN_UTC)


def test_a_unit_of_another_quantity_makes_a_cell_bad():
    """A percentage in a column of watts is no power."""
    rows = b"2026/02/03 04:05:06.0, GPU-a, 97 %\n2026/02/03 04:05:07.0, GPU-a, 9 W\n"
    log = b"timestamp, uuid, power.draw [W]\n" + rows

    recording = recording_of_bytes(log, IN_UTC)

    assert str(recording.traces[0]["power_watts"].tolist()) == "[nan, 9.0]"
    assert "bad-cell" in codes(recording.findings)


def test_a_column_asked_for_twice_counts_once():
    """Two names of one field are one column; the first is taken."""
    header = b"timestamp, uuid, clocks.sm [MHz], clocks.current.sm [MHz]\n"
    log = header + b"2026/02/03 04:05:06.0, GPU-a, 1755 MHz, 1700 MHz\n"

    recording = recording_of_bytes(log, IN_UTC)

    assert recording.traces[0]["sm_clock_hertz"].tolist() == [1.755e9]
    assert "repeated-column" in codes(recording.findings)


def test_a_lost_gpu_that_nothing_names_is_not_passed_over():
    """Its rows are counted, whoever it was."""
    log = b"timestamp, uuid, power.draw [W]\n2026/02/03 04:05:06.0, GPU-a, 70 W\n"
    lost = b"2026/02/03 04:05:06.1, [GPU is lost], [GPU is lost]\n"

    recording = recording_of_bytes(log + lost, IN_UTC)

    assert [trace.device.uuid for trace in recording.traces] == ["GPU-a"]
    assert "gpu-lost" in codes(recording.findings)
