"""``evaluate --protocol stitching``: a table for people, with each failure; JSON for programs."""

import json
from pathlib import Path

import pytest

from flopwitness.app.cli.evaluate import Chosen
from flopwitness.app.cli.evaluate import run as run_evaluate
from flopwitness.app.cli.stitching import COLUMNS, print_stitching, stitching_object
from flopwitness.app.stitching import COUNTS

DATASETS = Path(__file__).resolve().parents[3] / "datasets"


def row_of(dataset: str, what: str = "recorded", **counts: int) -> dict[str, object]:
    """Return a row whose counts are 0 unless given."""
    failures = ["left: merged with right"] if counts.get("n_merged") else []
    row = {"dataset": dataset, "what": what, "false_merge_ratio": None, "failures": failures}
    return row | dict.fromkeys(COUNTS, 0) | counts


def test_failures_of_recorded_jobs_have_a_line_each(capsys: pytest.CaptureFixture[str]):
    """Those of made recordings are counted alone."""
    print_stitching([row_of("a", n_merged=1), row_of("b", "shuffled", n_merged=1)])

    said = capsys.readouterr().out
    assert said.count("left: merged with right") == 1
    assert "a: left: merged with right" in said


def test_json_values_hold_rows_and_sums():
    """A share without neighbours is null."""
    rows = [row_of("a", n_jobs=2, n_pairs=1), row_of("b", n_jobs=3)]

    found = json.loads(json.dumps(stitching_object(rows, seed=7), allow_nan=False))

    assert (found["protocol"], found["seed"]) == ("stitching", 7)
    assert found["datasets"][0]["false_merge_ratio"] is None
    assert [(one["dataset"], one["n_jobs"]) for one in found["totals"]] == [("all", 5)]


def test_a_dataset_is_scored(capsys: pytest.CaptureFixture[str]):
    """As a table and as JSON."""
    path = DATASETS / "h200x1-e-inference"

    run_evaluate([path], protocol=Chosen.STITCHING)
    table = capsys.readouterr().out
    run_evaluate([path], protocol=Chosen.STITCHING, json=True)

    (recorded, *_) = json.loads(capsys.readouterr().out)["datasets"]
    assert "Sessions stitched into jobs" in table
    assert (recorded["what"], recorded["n_right"]) == ("recorded", recorded["n_jobs"])
    assert len(COLUMNS) == len(COUNTS) + 3
