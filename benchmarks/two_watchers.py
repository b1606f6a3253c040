"""One job watched twice: what our sampler's recording says of 24 runs, and what nvidia-smi's log does.

``python benchmarks/two_watchers.py`` prints, for each source and method, the median error of the point, how
many truths lie inside the interval and under the hard bound, and how wide the interval is. Executed FLOP; the
shipped calibration, which has not seen this node. The rows go to
``benchmarks/results/missing_signals/two_watchers.json``.
"""

import json
import sys
from datetime import UTC
from pathlib import Path
from statistics import median

from flopwitness.app.opening import calibration_at_hand, open_recording, open_runs
from flopwitness.app.witnessing import logged_sessions, witnessed
from flopwitness.core.estimate import Estimate
from flopwitness.core.recording import Recording
from flopwitness.core.workload import Run, Target
from flopwitness.estimate.sparse.made import BOUNDS_ONLY
from flopwitness.telemetry.readers.asked import Asked

ROOT = Path(__file__).parents[1]
DATASET = ROOT / "datasets" / "h200x1-j"
OUTPUT = ROOT / "benchmarks" / "results" / "missing_signals" / "two_watchers.json"
SOURCES = {"samples.parquet": "our sampler, 10 Hz", "logs/query.csv.gz": "nvidia-smi, every 0.2 s"}


def main() -> int:
    """Score both sources and print the table."""
    runs = open_runs(DATASET / "runs.json")
    rows = []
    for name, title in SOURCES.items():
        found = open_recording(DATASET / name, asked=Asked(zone=UTC))
        rows += [{"source": title, **row} for row in scored(found, runs)]
    OUTPUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        sys.stdout.write(json.dumps(row) + "\n")
    return 0


def scored(recording: Recording, runs: tuple[Run, ...]) -> list[dict[str, object]]:
    """Return a row a method that gives points."""
    sessions = logged_sessions(recording, runs)
    answers = witnessed(recording, sessions, calibration_at_hand(one.device.chip for one in recording.traces))
    by_method: dict[str, list[tuple[Estimate, float]]] = {}
    for run, answer in zip(runs, answers, strict=True):
        truth = run.truth.executed_flop
        for method, estimate in answer.estimates[Target.EXECUTED].items():
            if truth and method not in BOUNDS_ONLY:
                by_method.setdefault(method, []).append((estimate, truth))
    return [row_of(method, pairs) for method, pairs in by_method.items()]


def row_of(method: str, pairs: list[tuple[Estimate, float]]) -> dict[str, object]:
    """Return what a method said of all runs."""
    widths = [one.high_flop / one.low_flop if one.low_flop else float("inf") for one, _ in pairs]
    return {
        "method": method,
        "n_runs": len(pairs),
        "median_error_ratio": round(median(abs(one.point_flop / truth - 1) for one, truth in pairs), 4),
        "inside": sum(one.low_flop <= truth <= one.high_flop for one, truth in pairs),
        "under_most": sum(truth <= one.most_flop for one, truth in pairs),
        "width_factor": None if median(widths) == float("inf") else round(median(widths), 2),
    }


if __name__ == "__main__":
    sys.exit(main())
