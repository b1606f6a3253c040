"""``flopwitness estimate`` without a calibration or with signals missing: an answer, not a refusal."""

import json
from pathlib import Path

import numpy as np
import pytest

from flopwitness.app.cli.main import status_of
from flopwitness.core.device import Device
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.storage.recordings import write_recording

N = 400
WORKS = (np.arange(N) >= 60) & (np.arange(N) < 340)


def kept(folder: Path, *, chip: str = "H100-SXM", step: float = 0.3, **channels: object) -> str:
    """Write a recording of one device and return its path."""
    columns = {name: np.broadcast_to(np.asarray(value, float), N) for name, value in channels.items()}
    times = np.round(np.arange(N) * step * 1e9).astype(np.int64)
    trace = Trace(Device("GPU-a", chip=chip), times, columns)
    path = folder / "samples.parquet"
    write_recording(path, Recording("made", (trace,), Provenance("test")))
    return str(path)


def answers(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    """Return what the command prints as JSON."""
    assert status_of(["estimate", *arguments, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_power_alone_of_an_h100_is_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With an interval, a bound, what it assumes and the signal that is missed most."""
    path = kept(tmp_path, power_watts=np.where(WORKS, 650.0, 75.0))

    (answer,) = answers(capsys, path)

    one = answer["estimates"]["power-envelope"]
    assert 0 < one["low_flop"] < one["point_flop"] < one["high_flop"] < one["most_flop"]
    assert {"assumed-efficiency", "would-narrow"} <= {finding["code"] for finding in answer["findings"]}


def test_utilisation_alone_has_no_point(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bound, and the table says so."""
    path = kept(tmp_path, gpu_util_ratio=np.where(WORKS, 1.0, 0.0))

    (answer,) = answers(capsys, path)
    status = status_of(["estimate", path])

    assert answer["estimates"]["utilisation-ceiling"]["point_flop"] is None
    assert answer["estimates"]["utilisation-ceiling"]["low_flop"] == 0
    assert status == 0
    assert "utilisation-ceiling" in capsys.readouterr().out


def test_a_node_needs_the_number_of_its_gpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--gpus`` says what the meter hides, ``--number-format`` what nobody can see."""
    path = kept(tmp_path, step=2.0, node_power_watts=np.where(WORKS, 7200.0, 2400.0))

    (whole,) = answers(capsys, path, "--gpus", "8")
    (half,) = answers(capsys, path, "--gpus", "8", "--number-format", "half")

    wide, narrow = (each["estimates"]["node-power-envelope"] for each in (whole, half))
    assert wide["low_flop"] < narrow["low_flop"] < narrow["high_flop"] < wide["high_flop"]
    assert wide["most_flop"] == narrow["most_flop"]
