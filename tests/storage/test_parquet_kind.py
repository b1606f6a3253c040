"""Whose Parquet a file is."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.storage.parquet_kind import is_recording
from flopwitness.storage.recordings import write_recording


def test_our_recording_is_told_from_others_parquet(tmp_path: Path):
    """Both begin alike; only ours carries our metadata."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    trace = Trace(Device("GPU-a"), [0], {"power_watts": [80.0]})
    write_recording(ours, Recording("one", (trace,), Provenance("test")))
    pq.write_table(pa.table({"power_draw_w": [80.0]}), theirs)

    assert (is_recording(ours), is_recording(theirs)) == (True, False)


def test_what_is_no_parquet_is_refused_in_one_line(tmp_path: Path):
    """The magic bytes alone make no file."""
    path = tmp_path / "broken"
    path.write_bytes(b"PAR1 and nothing else")

    with pytest.raises(BadInputError, match="expected a readable Parquet recording"):
        is_recording(path)
