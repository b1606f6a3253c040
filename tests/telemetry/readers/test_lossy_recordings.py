"""The recording CSV: what a damaged or disordered file costs, and how it is told."""

from pathlib import Path

import numpy as np
import pytest

from flopwitness.core.finding import Severity
from flopwitness.telemetry.readers.nvml_csv import NvmlCsvReader, read_recording_csv
from telemetry.recording_files import codes, cut_gzip, row, ticks, write


@pytest.mark.parametrize(
    "token",
    [
        *(
            "",
            "nan",
            "NaN",
            "N/A",
            "[N/A]",
            "[Not Supported]",
            "[Function Not Found]",
            "ERR!",
            "-",
            "None",
            "null",
        ),
        *("[Requested functionality has been deprecated]", "[Unknown Error]", "[Insufficient Permissions]"),
        *("<<<NOT_SUPPORTED>>>", " nan ", "2147483632", "140737488355328.0", "9223372036854775794"),
    ],
)
def test_missing_tokens_are_nan_and_counted(tmp_path: Path, token: str):
    """No token becomes zero or a huge number; other cells of the row stay."""
    recording = read_recording_csv(write(tmp_path, [*ticks(2), row(t=1770091507, dram=token)]))

    assert np.isnan(recording.traces[0]["dram_active_ratio"]).tolist() == [False, False, True]
    assert not np.isnan(recording.traces[0]["power_watts"]).any()
    found = codes(recording)["missing-values"]
    assert (found.subject, found.message[:9]) == ("dram_active_ratio", "1 of 5 ce")


def test_a_bad_cell_costs_the_cell(tmp_path: Path):
    """Text among numbers is lost, counted, and the first one is named by its line."""
    rows = ticks(4)
    rows[2] = row(t="1770091506.2", power_w="abc")
    rows[5] = row(t="1770091506.3", power_w="12 W")

    recording = read_recording_csv(write(tmp_path, rows))

    message = "2 of 8 cells in column 'power_w' are no number, the first in line 4"
    assert codes(recording)["bad-cell"].message == message
    assert sum(int(np.isnan(trace["power_watts"]).sum()) for trace in recording.traces) == 2
    assert "missing-values" not in codes(recording)


def test_infinite_cells_are_taken_out_and_counted(tmp_path: Path):
    """An infinity is no measurement."""
    recording = read_recording_csv(write(tmp_path, [*ticks(2), row(t=1770091507, power_w="-Infinity")]))

    assert np.isnan(recording.traces[0]["power_watts"]).tolist() == [False, False, True]
    assert codes(recording)["infinite-value"].message.startswith("1 of 5 cells in column 'power_w'")


@pytest.mark.parametrize(
    ("column", "cell", "channel", "kept"),
    [
        ("tensor", 101.9, "tensor_active_ratio", True),
        ("tensor", 102.1, "tensor_active_ratio", False),
        ("tensor", -3, "tensor_active_ratio", False),
        ("power_w", -0.5, "power_watts", False),
        ("temp_c", -5, "temperature_celsius", True),
        ("sm_mhz", "1e305", "sm_clock_hertz", False),
        ("energy_mj", "18446744073709551615000", "energy_joules_total", True),
        ("energy_mj", "1e30", "energy_joules_total", False),
    ],
)
def test_impossible_values_are_quarantined_not_clamped(
    tmp_path: Path, column: str, cell: object, channel: str, kept: bool
):
    """A ratio may leave 0..1 by 2 %; beyond, or below zero, it is no measurement."""
    recording = read_recording_csv(write(tmp_path, [*ticks(1), row(t=1770091507, **{column: cell})]))

    assert np.isnan(recording.traces[0][channel][1]) != kept
    assert ("quarantined" in codes(recording)) != kept


def test_unsorted_rows_are_sorted_and_reported(tmp_path: Path):
    """Time never runs back in a trace; the file's disorder is said."""
    rows = ticks(4)

    recording = read_recording_csv(write(tmp_path, [rows[k] for k in (6, 7, 0, 1, 4, 5, 2, 3)]))

    assert recording.traces == read_recording_csv(write(tmp_path, rows)).traces
    assert "time runs back 2 times in 4 rows" in codes(recording)["unsorted"].message


def test_of_repeated_stamps_the_first_is_kept(tmp_path: Path):
    """Copies are dropped and counted; it is said whether they agreed."""
    rows = [row(t=1, power_w=10), row(t=1, power_w=10), row(t=2), row(t=1, power_w=30), row(t=2, dram="nan")]

    recording = read_recording_csv(write(tmp_path, rows))

    assert recording.traces[0].time_ns.tolist() == [10**9, 2 * 10**9]
    assert recording.traces[0]["power_watts"].tolist() == [10.0, 640.2]
    message = "3 rows of capture:0 repeat a time stamp, 2 of them with other values"
    assert message in codes(recording)["duplicate-times"].message


def test_repeats_with_the_same_missing_value_agree(tmp_path: Path):
    """No answer twice is no contradiction."""
    recording = read_recording_csv(write(tmp_path, [row(t=1, dram="nan"), row(t=1, dram=""), row(t=2)]))

    assert "1 rows of capture:0 repeat a time stamp, 0 of them" in codes(recording)["duplicate-times"].message


@pytest.mark.parametrize(
    "bad",
    [
        row()[:40],
        row() + ",1",
        row(t="x"),
        row(t="nan"),
        row(t="-5"),
        row(t="1e30"),
        row(t="1770091506100"),
        row(gpu="x"),
        row(gpu=""),
        row(gpu="-1"),
        row(gpu="0.5"),
        row(gpu="99999999"),
        '"31.5',
        "\0" * 30,
    ],
)
def test_a_bad_row_costs_the_row(tmp_path: Path, bad: str):
    """Too few or too many cells, no instant, no index: the row is lost and counted, the rest stays."""
    good = ticks(4)

    recording = read_recording_csv(write(tmp_path, [*good[:3], bad, *good[3:]]))

    assert recording.traces == read_recording_csv(write(tmp_path, good)).traces
    assert codes(recording)["bad-row"].message.startswith("1 rows ")
    assert codes(recording)["bad-row"].message.endswith("in line 5")


def test_lines_are_counted_past_refused_rows(tmp_path: Path):
    """The line in a message is the line in an editor."""
    rows = ["x", *ticks(1), "", "y", row(t=1770091509, power_w="abc")]

    recording = read_recording_csv(write(tmp_path, rows))

    assert codes(recording)["bad-cell"].message.endswith("the first in line 7")


def test_blank_lines_are_nothing(tmp_path: Path):
    """An empty line is not a lost sample."""
    good = ticks(2)

    recording = read_recording_csv(write(tmp_path, ["", *good, "", ""]))

    assert codes(recording) == {}
    assert [len(trace) for trace in recording.traces] == [2, 2]


@pytest.mark.parametrize("keep", [0.3, 0.55, 0.8, 0.999])
def test_a_cut_gzip_file_gives_what_came_before(tmp_path: Path, keep: float):
    """A killed recorder leaves no trailer: whole rows are kept, half a row is not, and it is said."""
    rng = np.random.default_rng(1)
    rows = [row(t=f"{1770091506 + k / 10:.4f}", power_w=round(rng.uniform(80, 700), 3)) for k in range(300)]
    whole = read_recording_csv(write(tmp_path, rows)).traces[0]

    recording = read_recording_csv(cut_gzip(tmp_path, rows, keep=keep))

    (trace,) = recording.traces
    found = codes(recording)
    assert 0 < len(trace) <= 300
    assert "bad-row" not in found
    assert f"{len(trace)} rows were kept" in found["truncated"].message
    assert trace.between(0, len(trace) - 1) == whole.between(0, len(trace) - 1)


def test_a_cut_last_line_loses_the_cell_at_the_cut(tmp_path: Path):
    """``900`` cut to ``90`` looks like a number: without a line end nobody can say, so it is missing."""
    path = write(tmp_path, ticks(2))
    path.write_text(path.read_text()[:-2])

    recording = read_recording_csv(path)

    assert [len(trace) for trace in recording.traces] == [2, 2]
    last = recording.traces[1]
    assert np.isnan(last["nvlink_tx_bytes_per_second"]).tolist() == [False, True]
    assert not np.isnan(last["nvlink_rx_bytes_per_second"]).any()
    assert "the last line has no end" in codes(recording)["truncated"].message


def test_a_cut_last_line_without_all_cells_is_left_out(tmp_path: Path):
    """Half a row is no row, and it is not counted twice."""
    path = write(tmp_path, ticks(2))
    path.write_text(path.read_text()[:-60])

    recording = read_recording_csv(path)

    assert [len(trace) for trace in recording.traces] == [2, 1]
    assert {"truncated", "uneven-devices"} == set(codes(recording))


def test_a_device_that_stops_early_is_reported(tmp_path: Path):
    """Of two GPUs one is missing from the middle on: that is a finding with its stretch."""
    recording = read_recording_csv(write(tmp_path, [*ticks(10), *ticks(30, gpus=(0,))[10:]]))

    found = codes(recording)
    assert found["uneven-devices"].message == "devices differ in samples: capture:0 has 30, capture:1 has 10"
    assert found["uneven-devices"].severity is Severity.WARNING
    stopped = found["stops-early"]
    assert (stopped.subject, stopped.start_ns) == ("capture:1", 1770091506920000000)


def test_a_device_that_starts_late_is_reported(tmp_path: Path):
    """The same at the front."""
    recording = read_recording_csv(write(tmp_path, [*ticks(30, gpus=(0,))[:20], *ticks(30)[40:]]))

    assert codes(recording)["starts-late"].subject == "capture:1"


def test_one_sample_more_is_a_note(tmp_path: Path):
    """A recorder stopped between two GPUs of a round has lost nothing."""
    recording = read_recording_csv(write(tmp_path, ticks(10)[:-1]))

    assert {code: f.severity for code, f in codes(recording).items()} == {"uneven-devices": Severity.NOTE}


def test_a_single_round_compares_no_edges(tmp_path: Path):
    """One sample a device has no step to measure a delay by."""
    recording = read_recording_csv(write(tmp_path, ticks(1)))

    assert codes(recording) == {}
    assert recording.provenance.interval_seconds is None


def test_findings_hold_no_path(tmp_path: Path):
    """Findings are shipped with recordings: the reader's machine is nobody's business."""
    path = write(tmp_path, [*ticks(2), "x"])
    path.write_text(path.read_text()[:-1])

    recording = read_recording_csv(path)

    assert all(str(tmp_path) not in f"{f.subject}{f.message}" for f in recording.findings)
    assert NvmlCsvReader(path).findings == recording.findings
