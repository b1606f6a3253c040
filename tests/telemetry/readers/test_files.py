"""A file of another tool as a ``Reader``: dcgm-exporter's text with time stamps."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.reader import ReaderContract, Row
from flopwitness.core.errors import BadInputError
from flopwitness.core.ports import Reader
from flopwitness.telemetry.readers.files import FileReader, read_file
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.reading import Summary

FIELDS = (
    ("DCGM_FI_DEV_POWER_USAGE", "power_watts", 1.0),
    ("DCGM_FI_DEV_SM_CLOCK", "sm_clock_hertz", 1e-6),
    ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "tensor_active_ratio", 1.0),
)


class TestFileReader(ReaderContract):
    """What is read through the door fits the port, whatever the format."""

    def make_reader(self, folder: Path, rows: Sequence[Row]) -> Reader:
        """Write an exposition with a stamp on each line."""
        path = folder / "upload"
        path.write_text("".join(_lines(row) for row in rows), encoding="utf-8")
        return FileReader(Input.of(path))


def _lines(row: Row) -> str:
    text = ""
    for name, channel, factor in FIELDS:
        value = getattr(row, channel)
        shown = "NaN" if value is None else repr(value * factor)
        text += f'{name}{{gpu="{row.gpu}",UUID="GPU-{row.gpu}"}} {shown} {row.time_ns // 1_000_000}\n'
    return text


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"", "an empty file"),
        (b"\n \n", "an empty file"),
        (b"Dear sir or madam\n", "text that starts with 'Dear sir or madam'"),
        (b"apples,pears\n1,2\n", "a table with the columns 'apples,pears'"),
        (b'{"apples": 1}\n', "JSON that starts with"),
        (b"<html></html>", "markup that starts with"),
        (b"\x7fELF\0\0\0\0", "binary data that starts with '7f 45 4c 46"),
    ],
)
def test_an_unknown_file_is_refused_with_what_was_seen(tmp_path: Path, content: bytes, seen: str):
    """One line that helps to find out what one has in hand."""
    path = tmp_path / "recording.csv"
    path.write_bytes(content)

    with pytest.raises(BadInputError) as refused:
        read_file(path)

    assert seen in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_file_without_samples_gives_figures(tmp_path: Path):
    """Energy windows are no recording, and no error either."""
    path = tmp_path / "windows"
    path.write_text(
        "start_time,window_name,elapsed_time,gpu0_energy\n10.5,train,2.0,500.0\n", encoding="utf-8"
    )

    found = read_file(path)

    assert isinstance(found, Summary)
    assert found.rows
