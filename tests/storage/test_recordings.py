"""Recordings as Parquet files."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contracts.store import example
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.storage.recordings import read_recording, read_summary, write_recording


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Return a file with the example in it."""
    path = tmp_path / "samples.parquet"
    write_recording(path, example())
    return path


def many_samples(n_samples: int = 2000) -> Recording:
    """Return two devices that both have every channel."""
    rng = np.random.default_rng(7)
    traces = [
        Trace(Device(f"GPU-{k}"), np.arange(n_samples), {"power_watts": rng.random(n_samples)})
        for k in range(2)
    ]
    return Recording("many", tuple(traces), Provenance("made"))


def rewritten(path: Path, change: str, to: str) -> Path:
    """Replace a piece of the metadata, as another version of this package or a forger would."""
    table = pq.read_table(path)
    metadata = {
        key: value.replace(change.encode(), to.encode()) for key, value in table.schema.metadata.items()
    }
    target = path.with_name("rewritten.parquet")
    with pq.ParquetWriter(target, table.schema.with_metadata(metadata)) as writer:
        writer.write_table(table.slice(0, 3), row_group_size=2)
        writer.write_table(table.slice(3))
    return target


def test_a_rewritten_copy_is_read_when_nothing_changed(written: Path):
    """The layout is Parquet's own: another writer may make it (and the tests below fail for one reason)."""
    assert example() == read_recording(rewritten(written, "nothing", "nothing"))


def test_a_chosen_channel_comes_alone(written: Path):
    """Projection: only what was asked for is read; what a device lacks stays absent."""
    first, second = read_recording(written, channels={"dram_active_ratio", "sm_clock_hertz"}).traces

    assert list(first.channels) == []
    assert list(second.channels) == ["dram_active_ratio"]
    assert second.time_ns.tolist() == [2, 6]


def test_the_summary_needs_no_samples(written: Path):
    """Devices, lengths and stretches are known without reading a column."""
    summary = read_summary(written)

    held = [(d.device.uuid, d.n_samples, d.channels, d.start_ns, d.stop_ns) for d in summary.devices]
    assert held == [
        ("GPU-a", 3, ("power_watts",), 1, 9),
        ("GPU-b", 2, ("power_watts", "dram_active_ratio"), 2, 6),
    ]
    assert (example().name, example().provenance, example().findings) == (
        summary.name,
        summary.provenance,
        summary.findings,
    )


def test_a_device_without_samples_has_no_stretch(tmp_path: Path):
    """A device that answered nothing is still listed."""
    recording = Recording("r", (Trace(Device("GPU-a"), [], {"power_watts": []}),), Provenance("made"))
    write_recording(tmp_path / "x", recording)

    (held,) = read_summary(tmp_path / "x").devices

    assert (held.n_samples, held.start_ns, held.stop_ns) == (0, None, None)
    assert recording == read_recording(tmp_path / "x")


def test_columns_are_shared_with_the_decoder(tmp_path: Path):
    """A channel of all devices comes without a copy, and nobody can write to it."""
    write_recording(tmp_path / "x", many_samples())

    for trace in read_recording(tmp_path / "x").traces:
        assert not trace["power_watts"].flags.owndata
        assert not trace["power_watts"].flags.writeable


def test_rows_can_be_read_by_any_parquet_tool(written: Path):
    """Null says that the device has no such channel, NaN that a sample is missing."""
    table = pq.read_table(written)

    assert table.column_names == ["device", "time_ns", "power_watts", "dram_active_ratio"]
    assert table["device"].to_pylist() == ["GPU-a"] * 3 + ["GPU-b"] * 2
    assert [None if value is None else str(value) for value in table["dram_active_ratio"].to_pylist()] == [
        None,
        None,
        None,
        "0.1",
        "nan",
    ]


def test_compact_files_are_smaller_and_equal(tmp_path: Path):
    """Both compressions hold the same bits."""
    steps = np.arange(50_000)
    trace = Trace(Device("GPU-a"), steps, {"power_watts": np.round(np.sin(steps / 100) * 300 + 400, 3)})
    recording = Recording("r", (trace,), Provenance("made"))

    write_recording(tmp_path / "fast", recording)
    write_recording(tmp_path / "small", recording, compact=True)

    assert read_recording(tmp_path / "fast") == read_recording(tmp_path / "small")
    assert (tmp_path / "small").stat().st_size < (tmp_path / "fast").stat().st_size


def test_an_existing_file_is_replaced_only_on_request(written: Path):
    """Nothing overwrites by accident."""
    with pytest.raises(BadInputError, match="expected a free name, got one that exists"):
        write_recording(written, example(watts=1.0))
    assert example() == read_recording(written)

    write_recording(written, example(watts=1.0), replace=True)

    assert example(watts=1.0) == read_recording(written)
    assert [written] == list(written.parent.iterdir())


def test_a_file_cut_anywhere_is_refused(written: Path):
    """A Parquet file ends with its index: without it nothing is trusted."""
    data = written.read_bytes()
    for length in range(0, len(data), 97):
        written.write_bytes(data[:length])
        with pytest.raises(BadInputError):
            read_recording(written)


def test_a_flipped_bit_in_the_samples_is_noticed(tmp_path: Path):
    """Pages carry checksums: a damaged disk does not become other watts."""
    path = tmp_path / "x"
    write_recording(path, many_samples())
    data = bytearray(path.read_bytes())
    for place in range(200, 16_000, 1511):
        damaged = bytearray(data)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(BadInputError):
            read_recording(path)


def foreign(path: Path) -> Path:
    """Write a Parquet file of somebody else."""
    pq.write_table(pa.table({"power_draw_w": [1.0]}), path)
    return path


def test_another_parquet_file_is_refused(tmp_path: Path):
    """A file that we did not write has no meaning that we could vouch for."""
    with pytest.raises(BadInputError, match="expected a recording of this package, got another Parquet file"):
        read_recording(foreign(tmp_path / "x.parquet"))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"t,gpu,power_w\n1,0,80\n", b"\0" * 5000])
def test_what_is_no_parquet_is_refused_in_one_line(tmp_path: Path, content: bytes):
    """Wrong magic numbers are named with the file."""
    path = tmp_path / "x.parquet"
    path.write_bytes(content)

    with pytest.raises(BadInputError, match=r"^[^\n]*x\.parquet: expected a readable Parquet[^\n]*$"):
        read_recording(path)


@pytest.mark.parametrize(
    ("change", "to", "complaint"),
    [
        ('"version": 1', '"version": 2', "field 'version': expected 1, got 2"),
        ('"version": 1', '"version": true', "field 'version': expected 1, got True"),
        ("flopwitness-recording", "flopwitness-other", "field 'format'"),
        ('"n_samples": 3', '"n_samples": 2', "row groups"),
        ('"n_samples": 2', '"n_samples": 0', "2 samples belong to no device"),
        ('"n_samples": 3', '"n_samples": "x"', "metadata"),
        ('"uuid": "GPU-b"', '"uuid": "GPU-a"', "holds a device twice"),
        ('"uuid": "GPU-b"', '"uuid": ""', "needs a UUID"),
        ('"severity": "note"', '"severity": "calm"', "calm"),
        ('"start_ns": 2', '"start_ns": 3', "do not span"),
        ('"channels": ["power_watts"]', '"channels": ["sm_watts"]', "sm_watts"),
        ('"interval_seconds": 0.1', '"interval_seconds": NaN', "NaN, which is no JSON"),
        ('"host": "n1"', '"host": 5', "no text"),
    ],
)
def test_metadata_that_contradicts_itself_is_refused(written: Path, change: str, to: str, complaint: str):
    """Another version, another format, or statements that the samples do not bear out."""
    with pytest.raises(BadInputError, match=complaint):
        read_recording(rewritten(written, change, to))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path):
    """The world's errors arrive as one line each."""
    for path, reason in ((tmp_path / "none", "no such file"), (tmp_path, "directory")):
        with pytest.raises(BadInputError, match=reason):
            read_recording(path)
    with pytest.raises(BadInputError, match="no such file"):
        write_recording(tmp_path / "no folder" / "x", example())


FORBIDDEN = """
import os, sys
from pathlib import Path
from flopwitness.core.errors import BadInputError
from flopwitness.storage.recordings import read_recording
if os.geteuid() == 0:
    os.setuid(65534)
try:
    read_recording(Path(sys.argv[1]))
except BadInputError as error:
    print(error)
"""


def test_a_file_that_may_not_be_read_is_refused(written: Path):
    """No permission is said in one line; the process gives up root first, which may read anything."""
    written.chmod(0)

    done = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, str(written)], capture_output=True, text=True, check=True
    )

    assert f"{written}: expected a readable Parquet recording, got {os.strerror(errno.EACCES).lower()}\n" == (
        done.stdout
    )
