"""The floors: each split run that keeps its memory is one job; at most 2 % of different ones are merged."""

from pathlib import Path

import pytest

from flopwitness.app.opening import open_dataset
from flopwitness.app.stitching import COUNTS, placed_sessions, stitching_of, stitching_totals
from flopwitness.app.witnessing import detected_sessions
from flopwitness.evaluate.stitching import logged_jobs, stitching

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
MOST_FALSE_MERGES = 0.02


@pytest.mark.parametrize("name", ["h200x2-b", "h200x2-c3", "h200x1-e-inference"])
def test_a_benign_sweep_holds_the_floors(name: str):
    """As recorded, shuffled, and split."""
    rows = {row["what"]: row for row in stitching_of(DATASETS / name, chip="H200-SXM", n_shuffles=3)}

    for what in ("recorded", "shuffled"):
        assert rows[what]["n_pairs"] > 0
        assert rows[what]["false_merge_ratio"] <= MOST_FALSE_MERGES
    assert rows["recorded"]["n_split"] == rows["recorded"]["n_missed"] == 0
    if "split, memory held" in rows:
        held = rows["split, memory held"]
        assert held["n_right"] == held["n_jobs"] > 0


def test_the_same_seed_gives_the_same_rows():
    """Nothing else decides where a run is cut."""
    path = DATASETS / "h200x1-e-inference"

    assert stitching_of(path, chip="H200-SXM", n_shuffles=1) == stitching_of(
        path, chip="H200-SXM", n_shuffles=1
    )


@pytest.mark.parametrize("name", ["h200x2-f1", "h200x2-f2", "h200x2-g"])
def test_every_attack_on_the_rhythm_is_one_job(name: str):
    """Splits of 6 s, throttling, bursts, hand-overs, poisoned baselines, as recorded on two nodes."""
    dataset = open_dataset(DATASETS / name, chip="H200-SXM")
    sessions = detected_sessions(dataset.recording)

    found = stitching(logged_jobs(dataset.runs), placed_sessions(sessions, dataset.recording))

    assert [job.logged.name for job in found.jobs if not job.is_right] == []
    if name != "h200x2-f2":
        assert max(job.n_sessions for job in found.jobs) > 2


def test_totals_are_sums_over_datasets():
    """Shares follow from the sums; failures stay with their dataset."""
    row = {"dataset": "a", "what": "recorded", "false_merge_ratio": 0.5, "failures": ["x"]}
    rows = [row | dict.fromkeys(COUNTS, number) | {"n_pairs": 10} for number in (1, 3)]

    (total,) = stitching_totals(rows)

    assert (total["dataset"], total["n_jobs"], total["n_pairs"]) == ("all", 4, 20)
    assert total["false_merge_ratio"] == 0.2
    assert "failures" not in total
