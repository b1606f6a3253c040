"""A dataset with an attack of known effect: true runs of a node, relabelled, the truth of some scaled."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from flopwitness.app.opening import open_dataset
from flopwitness.core.dataset import Dataset
from flopwitness.core.workload import GroundTruth, Run
from flopwitness.redteam.attack import Attack
from flopwitness.storage.datasets import write_dataset

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
NODE = DATASETS / "h200x2-c3"
N_TRACES = 3


def relabelled(run: Run, name: str, family: str, *, factor: float = 1.0) -> Run:
    """Return a run under another name, as if it had done so many times the work that was counted."""
    config = replace(run.config, name=name, family=family)
    truth = GroundTruth(
        *(
            None if flop is None else flop * factor
            for flop in (run.truth.algorithmic_flop, run.truth.executed_flop)
        )
    )
    return replace(run, config=config, truth=truth)


def attacked(attack: Attack, factors: Mapping[str, float]) -> Dataset:
    """Return three traces of one real workload as the twin, and again as each strength with its truth scaled.

    An estimator says the same of all of them, so that its error under attack and the cost follow by hand.
    """
    node = open_dataset(NODE)
    name = node.runs[0].config.name
    real = [run for run in node.runs if run.config.name == name][:N_TRACES]
    runs = [relabelled(run, attack.twin.name, "twin") for run in real]
    for label, factor in factors.items():
        runs += [relabelled(run, f"{attack.name}-{label}", attack.name, factor=factor) for run in real]
    return replace(node, runs=tuple(sorted(runs, key=lambda run: run.start_ns)))


def write_attacked(folder: Path, dataset: Dataset) -> Path:
    """Write it as a folder that commands can open."""
    write_dataset(folder, dataset, "Relabelled runs, for a test.")
    return folder
