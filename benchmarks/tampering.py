"""Tamper with excerpts of real recordings and count what the consistency findings catch.

Folds: every excerpt comes from a node whose boards the constants were not fitted on. Held out: recordings of
attack sweeps, by the constants that are shipped. A strength is sought at which an estimate moves by 10 %.
``python benchmarks/tampering.py --trials 102`` writes ``benchmarks/results/redteam/tampering.json``.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from tampering_trials import (
    EXCERPT_SECONDS,
    METHOD,
    ORDINARY,
    clean_composites,
    clean_trials,
    is_ordinary,
    power_ratio,
    session_trials,
    trials_of,
    workload_stretches,
)

from flopwitness.app.opening import bundled_datasets, open_dataset, shipped_calibration
from flopwitness.core.dataset import Dataset
from flopwitness.estimate.calibration import Calibration
from flopwitness.redteam.tampering.catalogue import TAMPERINGS
from flopwitness.redteam.tampering.trials import TARGET_RATIO, Trial, found_share
from flopwitness.verify.consistency.fitting import fitted_state

A, C, D = ("h200x2-a", "h200x2-b"), ("h200x2-c1", "h200x2-c2", "h200x2-c3"), ("h200x2-d1", "h200x2-d2")
FOLDS = (((*A, *C), D), ((*A, *D), C), ((*C, *D), A))
"""What is fitted, and what is tampered with; the nodes of one part are not in the other.

In the last one the program is another one too.
"""

HELD_OUT = ((*A, *C, *D), ("h200x2-f1", "h200x2-f2", "h200x2-g"))
"""What the shipped constants are fitted on, and attack sweeps that no limit was set on."""

FORMATS = ("h200x2-f-formats", "h200x2-g-formats")
OTHER_WORK = ("h200x1-e-extra", "h200x1-e-inference", "h200x2-c-other", "h200x2-hang")
"""Clean recordings of what the constants were not fitted on: other formats, networks, inference, a hang."""

FOUND_FLOOR, FALSE_CEILING = 0.95, 0.01

FIRST_LOOK = {
    "what": "clean sessions of h200x2-f1, -f2, -g by the limits before anybody looked at these",
    "false": 2,
    "trials": 78,
    "low": 0.007,
    "high": 0.089,
    "codes": {"shifted": 2},
    "then": "both were rhythms of short bursts, 0.13 and 0.17 s off; lags of power within 0.2 s pass since",
}
"""Cannot be measured again: the limit that erred was changed after it."""

OUTPUT = Path(__file__).parent / "results" / "redteam" / "tampering.json"


def row(label: str, trials: list[Trial]) -> dict[str, object]:
    """Return a line of the table."""
    share = found_share(trials)
    reached = found_share(trial for trial in trials if trial.moved_ratio >= TARGET_RATIO)
    codes = sorted({code for trial in trials for code in trial.codes})
    return {
        "kind": label,
        "found": share.n_found,
        "trials": share.n_trials,
        "low": round(share.low_ratio, 3),
        "high": round(share.high_ratio, 3),
        "strength": round(share.median_strength, 3),
        "moved": round(share.median_moved_ratio, 3),
        "reached": reached.n_trials,
        "found_reached": reached.n_found,
        "low_reached": round(reached.low_ratio, 3),
        "high_reached": round(reached.high_ratio, 3),
        "codes": {code: sum(code in trial.codes for trial in trials) for code in codes},
        "hinted_only": sum(bool(trial.hints) and not trial.codes for trial in trials),
    }


def table(trials: Iterable[Trial]) -> list[dict[str, object]]:
    """Return a line a kind, each followed by one a variant."""
    every, lines = list(trials), []
    for label in dict.fromkeys(trial.kind for trial in every):
        mine = [trial for trial in every if trial.kind == label]
        lines.append(row(label, mine))
        variants = dict.fromkeys(trial.variant for trial in mine if label in TAMPERINGS)
        lines += [
            row(f"{label}/{name}", [trial for trial in mine if trial.variant == name]) for name in variants
        ]
    return lines


def tampered(
    opened: dict[str, Dataset],
    folds: Iterable[tuple[tuple[str, ...], tuple[str, ...]]],
    kinds: Iterable[str],
    *,
    n_trials: int,
    calibration: Calibration,
) -> list[Trial]:
    """Return trials of kinds, as many a kind and fold."""
    trials: list[Trial] = []
    for fitted, tested in folds:
        state = fitted_state([opened[name].recording for name in fitted])
        datasets = {name: opened[name] for name in tested}
        for kind in kinds:
            trials += trials_of(datasets, TAMPERINGS[kind], n_trials, state=state, calibration=calibration)
    return trials


def untampered(opened: dict[str, Dataset], n_trials: int) -> dict[str, list[dict[str, object]]]:
    """Return what is said of recordings as they are."""
    folds: list[Trial] = []
    for fitted, tested in FOLDS:
        state = fitted_state([opened[name].recording for name in fitted])
        datasets = {name: opened[name] for name in tested}
        folds += clean_trials(datasets, n_trials // len(FOLDS), state=state)
        folds += clean_composites(datasets, n_trials // len(FOLDS) // 2, state=state)
    state = fitted_state([opened[name].recording for name in HELD_OUT[0]])
    judged = session_trials({name: opened[name] for name in HELD_OUT[1]}, state=state)
    sessions = [trial for trial in judged if is_ordinary(trial.variant)]
    others = clean_trials({name: opened[name] for name in OTHER_WORK}, 72, state=state)
    return {"folds": table(folds), "held_out_sessions": table(sessions), "other_work": table(others)}


def attacks(opened: dict[str, Dataset]) -> list[dict[str, object]]:
    """Return what is said of each workload of the attack sweeps and of those in other number formats."""
    state = fitted_state([opened[name].recording for name in HELD_OUT[0]])
    lines: list[dict[str, object]] = []
    for name in (*HELD_OUT[1], *FORMATS):
        spans = workload_stretches(opened[name])
        judged = session_trials({name: opened[name]}, state=state)
        for trial, (_, first_ns, last_ns) in zip(judged, spans, strict=True):
            lines.append(
                {
                    "dataset": name,
                    "workload": trial.variant,
                    "is_ordinary": is_ordinary(trial.variant),
                    "seconds": round((last_ns - first_ns) / 1e9, 1),
                    "codes": sorted(trial.codes),
                    "notes": sorted(trial.hints),
                    "power_ratio": power_ratio(opened[name], first_ns, last_ns, state),
                }
            )
    return lines


def main() -> None:
    """Run the trials and write their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=102, help="trials a kind, over the folds")
    parser.add_argument("--held-out", type=int, default=30, help="trials a kind on held-out recordings")
    parser.add_argument("--clean", type=int, default=300, help="clean excerpts, over the folds")
    parser.add_argument("--kind", action="append", help="only these kinds")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    folder = bundled_datasets()
    opened = {name: open_dataset(folder / name) for name in chain(A, C, D, HELD_OUT[1], FORMATS, OTHER_WORK)}
    calibration = shipped_calibration(opened["h200x2-a"].chips)
    kinds = tuple(options.kind or TAMPERINGS)
    clean = untampered(opened, options.clean)
    n_each = -(-options.trials // len(FOLDS))
    folds = tampered(opened, FOLDS, kinds, n_trials=n_each, calibration=calibration)
    held_out = tampered(opened, (HELD_OUT,), kinds, n_trials=options.held_out, calibration=calibration)
    answer = {
        "command": f"python benchmarks/tampering.py {' '.join(sys.argv[1:])}".strip(),
        "seeds": "1000 x the number of the kind by name + the number of the trial; clean pairs: 5",
        "excerpt_seconds": EXCERPT_SECONDS,
        "target_ratio": TARGET_RATIO,
        "moved": f"the point of {METHOD} over the excerpt; shifts: over the runs of the log",
        "intervals": "Wilson, 95 %, overlapping excerpts taken for independent",
        "floors": {"found": FOUND_FLOOR, "false": FALSE_CEILING},
        "ordinary": list(ORDINARY),
        "data": {"folds": FOLDS, "held_out": HELD_OUT, "other_work": OTHER_WORK},
        "first_look": FIRST_LOOK,
        "clean": clean,
        "attacks": attacks(opened),
        "folds": table(folds),
        "held_out": table(held_out),
    }
    options.output.write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()
