"""Parts of a daemon: a recording where one is named, and a calibration that fits before anything starts."""

from pathlib import Path

import pytest

from app.recordings import write_folder
from app.serving_book import DATASETS
from flopwitness.app.composing import calibrations_of, source_of
from flopwitness.app.ticking import HostClock
from flopwitness.core.errors import FlopWitnessError


def test_a_named_recording_is_replayed():
    """Its GPUs are there at once, and nothing was missed."""
    with source_of(DATASETS / "h200x2-b", HostClock(), chip="H200-SXM", pace=(1.0, 0.1), say=print) as source:
        assert [device.chip for device in source.devices] == ["H200-SXM"] * 2
        assert source.n_missed == 0


def test_a_chip_without_a_calibration_is_refused_before_anything_is_watched(tmp_path: Path):
    """Not after hours."""
    folder = write_folder(tmp_path / "made")
    with (
        source_of(folder, HostClock(), chip="A100-SXM", pace=(1.0, 0.1), say=print) as source,
        pytest.raises(FlopWitnessError, match="A100"),
    ):
        calibrations_of(None, source)


def test_the_shipped_calibration_is_found_once():
    """The same object for the same chips."""
    with source_of(DATASETS / "h200x2-b", HostClock(), chip="H200-SXM", pace=(1.0, 0.1), say=print) as source:
        made = calibrations_of(None, source)

        assert made(("H200-SXM",)) is made(("H200-SXM",))
