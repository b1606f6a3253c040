"""How well sessions are stitched into jobs, over every dataset: as recorded, shuffled, and split.

Run ``python benchmarks/stitching.py`` from the repository's root; it writes
``benchmarks/results/redteam/stitching.json``: the command, what was read, and the counts, over all datasets
and over those that hold attacks alone.
"""

import argparse
import json
from itertools import chain
from pathlib import Path

from flopwitness.app.opening import DEFAULT_CHIP
from flopwitness.app.stitching import N_SHUFFLES, stitching_of, stitching_totals

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "redteam" / "stitching.json"
SEED = 0

GROUPS = {
    "benign": ("h200x2-a", "h200x2-b", "h200x2-c1", "h200x2-c2", "h200x2-c3", "h200x2-d1", "h200x2-d2"),
    "attacks": ("h200x2-f1", "h200x2-f2", "h200x2-g"),
    "other": (
        "h200x1-e-extra",
        "h200x1-e-inference",
        "h200x2-c-other",
        "h200x2-f-formats",
        "h200x2-g-formats",
        "h200x2-hang",
    ),
}
"""The benign sweeps that the floors are meant for, the attacks beside their twins, and the rest."""


def main() -> None:
    """Score every dataset and write the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    rows = {
        group: list(
            chain.from_iterable(
                stitching_of(ROOT / "datasets" / name, chip=DEFAULT_CHIP, seed=asked.seed) for name in names
            )
        )
        for group, names in GROUPS.items()
    }
    answer = {
        "command": "python benchmarks/stitching.py",
        "seed": asked.seed,
        "n_shuffles": N_SHUFFLES,
        "groups": {group: list(names) for group, names in GROUPS.items()},
        "totals": {group: stitching_totals(some) for group, some in rows.items()},
        "datasets": list(chain.from_iterable(rows.values())),
    }
    asked.out.write_text(json.dumps(answer, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
