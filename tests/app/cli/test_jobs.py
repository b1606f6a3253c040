"""``flopwitness jobs``: every job of the map, with what its GPUs took."""

import json
from pathlib import Path

import pytest

from flopwitness.app.cli.jobs import run
from flopwitness.storage.recordings import read_recording

NODE_B = Path(__file__).resolve().parents[3] / "datasets" / "h200x2-b"


def journal(folder: Path, *lines: dict[str, object]) -> Path:
    """Write a journal of jobs."""
    (folder / "jobs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def start(job_id: str, *uuids: str) -> dict[str, object]:
    """Return the start of a job long before the recording."""
    return {"event": "start", "job_id": job_id, "at": "2020-01-01T00:00:00Z", "gpus": list(uuids)}


def test_each_job_is_an_object_with_its_energy_and_flop(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Two jobs share the node: each has its own GPU's energy alone."""
    folder = journal(tmp_path, start("17", "h200x2-b:0"), start("18", "h200x2-b:1"))

    assert run(NODE_B, folder, json=True) == 0

    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["job_id"], one["devices"]) for one in found] == [
        ("17", ["h200x2-b:0"]),
        ("18", ["h200x2-b:1"]),
    ]
    for one, trace in zip(found, read_recording(NODE_B / "samples.parquet").traces, strict=True):
        counter = trace["energy_joules_total"]
        assert one["energy_joules"] == pytest.approx(counter[-1] - counter[0], rel=0.01)
        flop = one["flop"]["algorithmic"]
        assert 0 < flop["low_flop"] <= flop["point_flop"]
        assert flop["high_flop"] is None  # years of its window were not watched
        assert one["unobserved_ratio"] > 0.99


def test_a_job_on_gpus_that_are_not_in_the_recording_is_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Dashes for people, nulls for scripts; never 0."""
    folder = journal(tmp_path, start("17", "GPU-elsewhere"))

    run(NODE_B, folder)
    run(NODE_B, folder, json=True)

    shown = capsys.readouterr().out.splitlines()
    row = next(line for line in shown if "17" in line and "│" in line)
    assert [cell.strip() for cell in row.split("│")[4:-1]] == ["1", "-", "-", "-", "-", "-", "100.0 %"]
    one = json.loads(shown[-1])
    assert (one["energy_joules"], one["n_sessions"], one["flop"]) == (None, None, {})
