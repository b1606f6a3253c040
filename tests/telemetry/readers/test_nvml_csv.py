"""The recording CSV: what comes out of a good file."""

import gzip
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from contracts.reader import ReaderContract, Row
from flopwitness.core.finding import Severity
from flopwitness.telemetry.readers.nvml_csv import NvmlCsvReader, read_recording_csv
from telemetry.recording_files import COLUMNS, HEADER, codes, row, ticks, write


class TestNvmlCsvReader(ReaderContract):
    """The reader keeps every promise of the port."""

    def make_reader(self, folder: Path, rows: Sequence[Row]) -> NvmlCsvReader:
        """Write percent, MHz and seconds with nine decimals."""

        def text(value: float | None, *, scale: float = 1.0) -> str:
            return "" if value is None else repr(value * scale)

        lines = [
            row(
                t=f"{line.time_ns // 10**9}.{line.time_ns % 10**9:09d}",
                gpu=line.gpu,
                power_w=text(line.power_watts),
                sm_mhz=text(line.sm_clock_hertz, scale=1e-6),
                tensor=text(line.tensor_active_ratio, scale=100),
            )
            for line in rows
        ]
        return NvmlCsvReader(write(folder, lines))


def test_every_column_has_its_channel_and_base_unit(tmp_path: Path):
    """The values of one row, converted: percent, MHz, mJ, KiB, MiB/s."""
    (trace,) = read_recording_csv(write(tmp_path, [row()])).traces

    assert {name: float(column[0]) for name, column in trace.channels.items()} == {
        "power_watts": 640.2,
        "power_instant_watts": 655.1,
        "energy_joules_total": 5000.12,
        "gpu_util_ratio": 1.0,
        "mem_util_ratio": 0.55,
        "sm_clock_hertz": 1755e6,
        "mem_clock_hertz": 3201e6,
        "temperature_celsius": 61.0,
        "throttle_reasons_mask": 4.0,
        "nvlink_tx_bytes_total": 1024e3,
        "nvlink_rx_bytes_total": 2048e3,
        "gr_engine_active_ratio": 99.1 / 100,
        "sm_active_ratio": 0.81,
        "sm_occupancy_ratio": 0.225,
        "int_active_ratio": 3.1 / 100,
        "tensor_active_ratio": 44.2 / 100,
        "dfma_active_ratio": 0.0,
        "hmma_active_ratio": 44.2 / 100,
        "imma_active_ratio": 0.0,
        "dram_active_ratio": 0.37,
        "fp64_active_ratio": 0.0,
        "fp32_active_ratio": 5.1 / 100,
        "fp16_active_ratio": 0.2 / 100,
        "pcie_tx_bytes_per_second": 1.5 * 2**20,
        "pcie_rx_bytes_per_second": 2.5 * 2**20,
        "nvlink_rx_bytes_per_second": 900.0 * 2**20,
        "nvlink_tx_bytes_per_second": 800.0 * 2**20,
    }


def test_a_good_file_has_nothing_but_inferred_identity(tmp_path: Path):
    """The format keeps an index only; that is said once, as a note."""
    recording = read_recording_csv(write(tmp_path, ticks(5)), host="n1", driver="580")

    assert [(f.code, f.severity) for f in recording.findings] == [("uuid-inferred", Severity.NOTE)]
    assert [trace.device.uuid for trace in recording.traces] == ["capture:0", "capture:1"]
    assert {(trace.device.chip, trace.device.host) for trace in recording.traces} == {("H200-SXM", "n1")}


def test_provenance_names_the_bytes(tmp_path: Path):
    """The digest is that of the file as it lies, so that anybody can check it."""
    path = write(tmp_path, ticks(5))

    provenance = read_recording_csv(path, driver="580").provenance

    assert provenance.input_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (provenance.source, provenance.clock, provenance.driver) == ("nvml+gpm", "host UTC", "580")
    assert provenance.interval_seconds == 0.1
    assert provenance.reader.startswith("nvml_csv ")


def test_gzip_is_known_by_its_bytes(tmp_path: Path):
    """A compressed file gives the same traces, whatever it is called and however many members it has."""
    plain = write(tmp_path, ticks(5))
    packed = tmp_path / "capture.data"
    text = plain.read_bytes()
    packed.write_bytes(gzip.compress(text[:900]) + gzip.compress(text[900:]) + b"\0" * 16)

    assert read_recording_csv(packed).traces == read_recording_csv(plain).traces


@pytest.mark.parametrize(("file", "name"), [("samples.csv", "night"), ("other.csv.gz", "other")])
def test_the_capture_is_named_by_its_file_or_folder(tmp_path: Path, file: str, name: str):
    """``samples`` says nothing, the folder around it does."""
    folder = tmp_path / "night"
    folder.mkdir()
    write(folder, ticks(1)).rename(folder / file)

    assert read_recording_csv(folder / file).name == name


def test_columns_are_found_by_name(tmp_path: Path):
    """The order is free; blanks, capitals, quotes, a byte order mark and CRLF do not matter."""
    order = np.random.default_rng(3).permutation(len(COLUMNS))
    lines = [",".join(np.array(line.split(","))[order]) for line in (HEADER.upper(), *ticks(3))]
    path = tmp_path / "capture.csv"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([lines[0].replace(",", '" , "'), *lines[1:], ""]).encode())

    assert read_recording_csv(path).traces == read_recording_csv(write(tmp_path, ticks(3))).traces


def test_unknown_and_missing_columns_are_reported(tmp_path: Path):
    """A column that nobody knows is set aside; one that the format normally has is missed by name."""
    header = HEADER.replace("dram", "colour")

    recording = read_recording_csv(write(tmp_path, ticks(2), header=header))

    assert "dram_active_ratio" not in recording.traces[0]
    assert codes(recording)["missing-column"].subject == "dram_active_ratio"
    assert "'colour'" in codes(recording)["unknown-column"].message


def test_cycle_counters_that_are_empty_are_absent_channels(tmp_path: Path):
    """A driver without them leaves the cells empty: not offered is not zero, and not NaN either."""
    rows = [f"{line},," for line in ticks(2)]

    recording = read_recording_csv(write(tmp_path, rows, header=f"{HEADER},cyc_elapsed,cyc_mma"))

    assert len(recording.traces[0].channels) == 27
    notes = [f for f in recording.findings if f.code == "channel-absent"]
    assert [f.subject for f in notes] == ["sm_cycles_total", "tensor_active_cycles_total"]
    assert {f.severity for f in notes} == {Severity.NOTE}


def test_cycle_counters_are_read_where_the_driver_has_them(tmp_path: Path):
    """The optional columns are plain counts."""
    recording = read_recording_csv(write(tmp_path, [f"{row()},123456789"], header=f"{HEADER},cyc_mma"))

    assert recording.traces[0]["tensor_active_cycles_total"].tolist() == [123456789.0]


def test_time_is_exact(tmp_path: Path):
    """Stamps are read as decimals: a float would be off by up to 120 ns."""
    texts = ["1770091506.1234", "1770091506.123456789", "1770091506.9999999996", " 1770091508 "]

    (trace,) = read_recording_csv(write(tmp_path, [row(t=text) for text in texts])).traces

    assert trace.time_ns.tolist() == [
        1770091506123400000,
        1770091506123456789,
        1770091507000000000,
        1770091508000000000,
    ]
