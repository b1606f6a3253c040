"""Files of others: whole, or piece by piece."""

from datetime import UTC
from pathlib import Path

import pytest

from flopwitness.app.importing import convert_large
from flopwitness.core.errors import BadInputError
from flopwitness.storage.recordings import read_recording
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.files import read_file

IN_UTC = Asked(zone=UTC)


def _log(path: Path, n_ticks: int) -> Path:
    rows = [
        f"2026/02/03 04:{tick // 60 % 60:02}:{tick % 60:02}.{100 + gpu}, {gpu}, {100 * (gpu + 1) + tick}.00 W"
        for tick in range(n_ticks)
        for gpu in range(2)
    ]
    path.write_text("timestamp, index, power.draw [W]\n" + "\n".join(rows) + "\n")
    return path


def test_piece_by_piece_gives_the_recording_that_the_whole_gives(tmp_path: Path):
    """What does not fit into memory is converted all the same."""
    log, output = _log(tmp_path / "log.csv", 500), tmp_path / "log.parquet"

    convert_large(log, output, IN_UTC, replace=False)

    whole, converted = read_file(log, IN_UTC), read_recording(output)
    assert converted.traces == whole.traces
    assert converted.provenance == whole.provenance
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.csv", "log.parquet"]


def test_a_file_without_samples_leaves_nothing_behind(tmp_path: Path):
    """Refused in one line; no half-written output."""
    log = _log(tmp_path / "log.csv", 0)

    with pytest.raises(BadInputError, match="samples"):
        convert_large(log, tmp_path / "log.parquet", IN_UTC, replace=False)

    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_an_existing_output_stays(tmp_path: Path):
    """Nothing is replaced unless told so."""
    log, output = _log(tmp_path / "log.csv", 5), tmp_path / "log.parquet"
    output.write_text("kept")

    with pytest.raises(BadInputError, match="--force"):
        convert_large(log, output, IN_UTC, replace=False)

    assert output.read_text() == "kept"
