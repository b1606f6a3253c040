"""Files that are no recording: one line that names file, place, what was expected and what came."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.nvml_csv import read_recording_csv
from telemetry.recording_files import HEADER, row, ticks, write


def complaint(path: Path) -> str:
    """Return the message for a file that must be refused, after checking its form."""
    with pytest.raises(BadInputError) as caught:
        read_recording_csv(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", gzip.compress(b"", mtime=0), gzip.compress(b"x", mtime=0)[:5]]
)
def test_an_empty_file(tmp_path: Path, content: bytes):
    """Nothing, also packed, is not a recording of nothing."""
    path = tmp_path / "x.csv"
    path.write_bytes(content)

    assert complaint(path) == "expected text, got an empty file"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("timestamp,power_draw_W", "line 1: expected a header with column 't', got 'timestamp,power_draw_W'"),
        (HEADER.replace("gpu", "device"), "line 1: expected a header with column 'gpu'"),
        (HEADER.replace(",", ";"), "line 1: expected a header with column 't'"),
        (row(), "line 1: expected a header with column 't'"),
        (HEADER.replace("fp16", "gpu"), "line 1: expected one column 'gpu', got 2 of them"),
        ("t,gpu,colour", "line 1: expected one of power_w, power_inst_w, energy_mj, util, ..."),
    ],
)
def test_wrong_columns(tmp_path: Path, header: str, expected: str):
    """Columns are found by name; without time and index, or with one twice, nothing is guessed."""
    rows = [",".join("1" * len(header.split(",")))] * 3

    assert complaint(write(tmp_path, rows, header=header)).startswith(expected)


def test_a_header_alone(tmp_path: Path):
    """No row is no recording."""
    path = write(tmp_path, [])
    for end in ("\n", ""):
        path.write_text(HEADER + end)
        assert complaint(path) == "expected at least one row of 29 cells, got no such row"


def test_rows_of_another_width(tmp_path: Path):
    """A file whose header belongs to other rows is refused, not read shifted."""
    rows = [f"{line},1" for line in ticks(3)]

    assert complaint(write(tmp_path, rows)) == "expected at least one row of 29 cells, got no such row"


@pytest.mark.parametrize("column", ["t", "gpu", "power_w", "tensor"])
def test_text_throughout_a_column_of_numbers(tmp_path: Path, column: str):
    """One bad cell is an accident, a column of them another format."""
    message = complaint(write(tmp_path, [row(**{column: "abc"})] * 3))

    assert message == f"line 2, column '{column}': expected a number, got 'abc'"


def test_infinite_time(tmp_path: Path):
    """An infinite stamp is refused, though one bad stamp is only a lost row."""
    message = complaint(write(tmp_path, [*ticks(2), row(t="inf")]))

    assert message == "line 6, column 't': expected a finite number, got 'inf'"


@pytest.mark.parametrize("stamp", ["1770091506100", "-1", "1e300", "nan"])
def test_no_row_has_a_time(tmp_path: Path, stamp: str):
    """Milliseconds are not guessed to be seconds."""
    message = complaint(write(tmp_path, [row(t=stamp)] * 2))

    assert message == f"line 2, column 't': expected seconds since 1970, got {stamp!r}"


def test_no_row_has_an_index(tmp_path: Path):
    """A UUID in the index column is another format."""
    message = complaint(write(tmp_path, [row(gpu="-1")] * 2))

    assert message == "line 2, column 'gpu': expected an index from 0, got '-1'"


def test_a_damaged_gzip_file(tmp_path: Path):
    """Cut is one thing, changed another: nothing of a stream with a wrong checksum is used."""
    data = bytearray(gzip.compress("\n".join((HEADER, *ticks(200))).encode()))
    data[-6] ^= 1
    path = tmp_path / "x.csv.gz"
    path.write_bytes(data)

    assert complaint(path).startswith("expected an intact gzip stream, got ")


def test_bytes_that_are_no_text(tmp_path: Path):
    """A binary file has no header; the message stays short and printable."""
    path = tmp_path / "x.csv"
    path.write_bytes(bytes(range(256)) * 100)

    message = complaint(path)

    assert message.startswith("line 1: expected a header with column 't'")
    assert message.isprintable()
    assert len(message) < 400


def test_a_line_without_an_end_in_sight(tmp_path: Path):
    """A line of megabytes is no row of numbers; the message does not repeat it."""
    message = complaint(write(tmp_path, [*ticks(2), "9" * 3_000_000, *ticks(2)]))

    assert message.startswith("expected comma-separated text, got ")
    assert len(message) < 400


def test_a_directory(tmp_path: Path):
    """A folder is not read as a file."""
    assert complaint(tmp_path) == "expected a file that can be read, got is a directory"


def test_a_missing_file(tmp_path: Path):
    """A path to nothing."""
    assert complaint(tmp_path / "no.csv") == "expected a file that can be read, got no such file or directory"


def test_a_device_without_an_end():
    """A character device would be read for ever."""
    assert complaint(Path("/dev/zero")) == "expected a file, got a device"


FORBIDDEN = """
import os, sys
from pathlib import Path
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.nvml_csv import read_recording_csv
if os.geteuid() == 0:
    os.setuid(65534)
try:
    read_recording_csv(Path(sys.argv[1]))
except BadInputError as error:
    print(error)
"""


def test_no_permission(tmp_path: Path):
    """The process gives up root first, which may read anything."""
    path = write(tmp_path, ticks(2))
    path.chmod(0)

    done = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, str(path)], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"{path}: expected a file that can be read, got {os.strerror(13).lower()}\n"
