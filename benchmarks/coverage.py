"""How often the calibrated intervals hold the truth: workloads held out, families held out, node to node.

Run ``python benchmarks/coverage.py`` from the repository's root; it writes
``benchmarks/results/coverage/coverage.json`` in some minutes: the command, what was read, and for each
question, target and method the share of traces held, its 95 % range over resampled workloads, each family and
the median width.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from flopwitness.app.evaluating import INTERVAL_FOLDS, factories_of, scored_splits
from flopwitness.app.examples import examples_of
from flopwitness.app.opening import DEFAULT_CHIP, open_dataset
from flopwitness.core.dataset import Dataset
from flopwitness.core.workload import Target
from flopwitness.evaluate.bootstrap import bootstrap_interval, cluster_draws, mean_statistic
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.protocols import Protocol
from flopwitness.evaluate.splits import Split, folds, leave_family_out

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "coverage" / "coverage.json"
NODES = {
    "a": ("h200x2-a",),
    "c": ("h200x2-c1", "h200x2-c2", "h200x2-c3"),
    "d": ("h200x2-d1", "h200x2-d2"),
}
"""The own sweep on nodes c and d; node a ran another program."""

METHODS = ("fused", "pipe-cycles-calibrated")
N_FOLDS = 10
SEED = 0


def main() -> None:
    """Ask every question and write the answers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    opened = {node: [_opened(name) for name in names] for node, names in NODES.items()}
    answer = {
        "command": "python benchmarks/coverage.py",
        "seed": asked.seed,
        "n_workload_folds": N_FOLDS,
        "n_interval_folds": INTERVAL_FOLDS,
        "nodes": {node: list(names) for node, names in NODES.items()},
        "rows": [
            row for target in Target for row in _rows(opened, target, rng=np.random.default_rng(asked.seed))
        ],
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(answer, indent=1, allow_nan=False) + "\n")


def _opened(name: str) -> Dataset:
    return open_dataset(ROOT / "datasets" / name, chip=DEFAULT_CHIP)


def _rows(
    opened: dict[str, list[Dataset]], target: Target, *, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return a row for each question and method."""
    rows = []
    for where, nodes in (("c and d", "cd"), ("a", "a")):
        examples = examples_of([one for node in nodes for one in opened[node]], target)
        for says, splits in (
            ("workloads held out", folds(examples, n_folds=N_FOLDS, n_repeats=1, rng=rng)),
            ("families held out", leave_family_out(examples)),
        ):
            rows += _scored(f"{where}: {says}", examples, splits)
    for fit, test in (("c", "d"), ("d", "c"), ("a", "c"), ("c", "a")):
        examples = examples_of([*opened[fit], *opened[test]], target)
        is_test = np.isin(examples.datasets, NODES[test])
        rows += _scored(f"{fit} to {test}: the same workloads", examples, [_split(~is_test, is_test, test)])
        rows += _scored(f"{fit} to {test}: workloads held out", examples, _apart(examples, is_test, rng=rng))
    return rows


def _split(train: Any, test: Any, name: str) -> Split:
    return Split(np.flatnonzero(train), np.flatnonzero(test), name)


def _apart(examples: Examples, is_test: Any, *, rng: np.random.Generator) -> list[Split]:
    """Hold out each workload of the tested node once, on the other node too."""
    names = rng.permutation(np.unique(examples.workloads[is_test]))
    parts = [np.isin(examples.workloads, part) for part in np.array_split(names, N_FOLDS)]
    return [_split(~is_test & ~part, is_test & part, f"fold {number}") for number, part in enumerate(parts)]


def _scored(question: str, examples: Examples, splits: Sequence[Split]) -> list[dict[str, Any]]:
    factories = factories_of(METHODS, examples, n_folds=INTERVAL_FOLDS)
    scores = scored_splits(factories, examples, splits, watch=lambda scored, _: scored)
    evaluation = Evaluation(Protocol.FAMILY, examples, scores)
    return [_row(question, evaluation, method) for method in METHODS]


def _row(question: str, evaluation: Evaluation, method: str) -> dict[str, Any]:
    """Return coverage with its range over resampled workloads, by family, and the median width."""
    examples, rows = evaluation.examples, evaluation.held_out
    low, high = evaluation.bounds_flop(method).T
    held = ((low <= examples.truth_flop[rows]) & (examples.truth_flop[rows] <= high)).astype(np.float64)
    workloads = examples.workloads[rows]
    draws = cluster_draws(len(np.unique(workloads)), rng=np.random.default_rng(SEED))
    interval = bootstrap_interval(held, workloads, statistic=mean_statistic, draws=draws)
    coverage = evaluation.coverage(method)
    return {
        "question": question,
        "target": examples.target.value,
        "method": method,
        "n_traces": coverage.n,
        "n_workloads": coverage.n_workloads,
        "coverage_ratio": coverage.coverage_ratio,
        "coverage_low_ratio": interval.low,
        "coverage_high_ratio": interval.high,
        "confidence_ratio": interval.confidence_ratio,
        "upper_coverage_ratio": coverage.upper_coverage_ratio,
        "median_width_ratio": coverage.median_width_ratio,
        "families": {
            family: {"coverage_ratio": one.coverage_ratio, "n_workloads": one.n_workloads}
            for family, one in evaluation.coverage_by_family(method).items()
        },
    }


if __name__ == "__main__":
    main()
