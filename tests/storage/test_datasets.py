"""Datasets as folders, and the ones that are shipped."""

import json
from pathlib import Path

import numpy as np
import pytest

from contracts.store import example
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import GroundTruth, Run, WorkloadConfig
from flopwitness.storage.datasets import read_dataset, write_dataset

CONFIG = WorkloadConfig(
    "wd", "width-depth", {"d_model": 1024, "lr": 0.1, "precision": "bf16", "causal": True}
)
RUNS = (
    Run(CONFIG, 1, 6, GroundTruth(algorithmic_flop=3645911838228480.0, executed_flop=1e15 / 3)),
    Run(CONFIG, 7, 9, GroundTruth(algorithmic_flop=2e15), trace_index=1),
    Run(WorkloadConfig("other", "small"), 8, 9, GroundTruth()),
)
DATASET = Dataset(example(), RUNS, ("run 'x': it failed ('out of memory')",))

SHIPPED = Path(__file__).parents[2] / "datasets"


def test_round_trip_is_equal(tmp_path: Path):
    """Samples, runs, truths, also unknown ones, and skipped runs come back."""
    write_dataset(tmp_path / "d", DATASET, "# d\n")

    assert read_dataset(tmp_path / "d") == DATASET
    assert (tmp_path / "d" / "card.md").read_text() == "# d\n"


def test_an_existing_folder_is_refused(tmp_path: Path):
    """Nothing overwrites, and nothing is left beside."""
    (tmp_path / "d").mkdir()

    with pytest.raises(BadInputError, match="free name"):
        write_dataset(tmp_path / "d", DATASET, "card")

    assert [tmp_path / "d"] == list(tmp_path.iterdir())


def test_a_dataset_that_cannot_be_written_leaves_nothing(tmp_path: Path):
    """A run that JSON cannot hold is found after the samples were written; the folder is gone again."""
    config = WorkloadConfig("wd", "f", {"lr": float("nan")})
    bad = Dataset(example(), (Run(config, 1, 2, GroundTruth()),))

    with pytest.raises(BadInputError, match="finite"):
        write_dataset(tmp_path / "d", bad, "card")

    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_above_is_refused(tmp_path: Path):
    """The folder above a dataset is somebody's decision."""
    with pytest.raises(BadInputError, match="no such file"):
        write_dataset(tmp_path / "none" / "d", DATASET, "card")


@pytest.mark.parametrize("missing", ["samples.parquet", "runs.json"])
def test_a_missing_part_is_named(tmp_path: Path, missing: str):
    """Half a dataset is none."""
    write_dataset(tmp_path / "d", DATASET, "card")
    (tmp_path / "d" / missing).unlink()

    with pytest.raises(BadInputError, match=missing):
        read_dataset(tmp_path / "d")


def test_no_folder_is_refused(tmp_path: Path):
    """A file is no dataset."""
    (tmp_path / "x").write_text("x")
    for path in (tmp_path / "x", tmp_path / "none"):
        with pytest.raises(BadInputError, match="expected a dataset folder, got none"):
            read_dataset(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("start_ns", 9),
        ("start_ns", 1.5),
        ("start_ns", True),
        ("executed_flop", -1.0),
        ("executed_flop", "many"),
        ("config", None),
        ("config", {"name": "x", "family": "y"}),
        ("config", {"name": "x", "family": "y", "parameters": {"d_model": [1]}}),
    ],
)
def test_a_run_that_cannot_be_one_is_refused(tmp_path: Path, field: str, value: object):
    """Stored runs pass the checks of the nouns."""
    write_dataset(tmp_path / "d", DATASET, "card")
    path = tmp_path / "d" / "runs.json"
    content = json.loads(path.read_text())
    content["runs"][0][field] = value
    path.write_text(json.dumps(content))

    with pytest.raises(BadInputError, match=r"runs\.json: field 'runs'"):
        read_dataset(tmp_path / "d")


@pytest.mark.parametrize(
    ("name", "n_samples", "n_runs", "n_missing", "codes"),
    [
        ("h200x2-a", 4701, 68, 18, {"uuid-inferred", "missing-values"}),
        ("h200x2-b", 1749, 23, 10, {"uuid-inferred", "missing-values", "channel-absent"}),
        ("h200x2-hang", 3667, 5, 10, {"uuid-inferred", "missing-values", "truncated"}),
    ],
)
def test_a_shipped_dataset_is_what_its_card_says(
    name: str, n_samples: int, n_runs: int, n_missing: int, codes: set[str]
):
    """Lengths, runs, missing values and faults of the real captures."""
    dataset = read_dataset(SHIPPED / name)

    traces = dataset.recording.traces
    assert [f"{name}:0", f"{name}:1"] == [trace.device.uuid for trace in traces]
    assert [n_samples] * 2 == [len(trace) for trace in traces]
    assert n_runs == len(dataset.runs)
    assert n_missing == sum(int(np.isnan(trace["dram_active_ratio"]).sum()) for trace in traces)
    assert codes == {finding.code for finding in dataset.recording.findings}
    assert {27} == {len(trace.channels) for trace in traces}
    assert f"# {name}\n" in (SHIPPED / name / "card.md").read_text()


@pytest.mark.parametrize("name", ["h200x2-a", "h200x2-b", "h200x2-hang"])
def test_shipped_truths_follow_the_closed_forms(name: str):
    """Counted FLOP equals the formula of the card exactly; executed FLOP has half of its attention term."""
    for run in read_dataset(SHIPPED / name).runs:
        numbers = run.config.integers("batch", "seq_len", "n_layers", "d_model", "d_ff", "steps", "n_gpus")
        assert numbers is not None
        batch, seq_len, n_layers, d_model, d_ff, steps, n_gpus = numbers
        dense = 6 * batch * seq_len * (n_layers * (4 * d_model**2 + 2 * d_model * d_ff) + 32_000 * d_model)
        attention = 14 * batch * seq_len**2 * d_model * n_layers

        assert (dense + attention) * steps * n_gpus == run.truth.algorithmic_flop
        assert (dense + attention // 2) * steps * n_gpus == run.truth.executed_flop


def test_shipped_runs_lie_inside_their_samples():
    """Every measured stretch has about ten samples a second on both GPUs."""
    for name in ("h200x2-a", "h200x2-b", "h200x2-hang"):
        dataset = read_dataset(SHIPPED / name)
        for run in dataset.runs:
            session = dataset.session(run)
            assert len(session.traces) == 2
            assert session.n_samples == pytest.approx(20 * session.duration_seconds, rel=0.05)


def test_later_captures_repeat_configurations_of_the_first():
    """The cards warn of it: a split by configuration must not put a repeat on the other side."""
    names = {
        name: {run.config.name for run in read_dataset(SHIPPED / f"h200x2-{name}").runs}
        for name in ("a", "b", "hang")
    }

    assert names["b"] <= names["a"]
    assert names["hang"] <= names["a"]
