"""What an estimate loses with each signal: bundled recordings of known truth with channels taken away.

Run ``python benchmarks/missing_signals.py`` from the repository's root: it writes
``benchmarks/results/missing_signals/missing_signals.json`` and ``docs/missing-signals.md``. ``--page`` draws
the page again and measures nothing. ``--public DIR`` scores recordings of others, where that folder holds
them, and prints what it found; nothing of it is kept.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from missing_signals_page import page
from missing_signals_public import public_lines

from flopwitness.app.examples import logged_session
from flopwitness.app.fewer_signals import shown_method
from flopwitness.app.opening import calibration_at_hand, open_dataset, open_runs
from flopwitness.app.witnessing import witnessed
from flopwitness.core.dataset import Dataset
from flopwitness.core.estimate import Estimate
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Run, Target
from flopwitness.estimate.sparse.answering import Assumptions
from flopwitness.evaluate.blanking import KEPT, as_node, keeping
from flopwitness.evaluate.cadence import sampled_every
from flopwitness.physics.chips import CHIPS

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "missing_signals" / "missing_signals.json"
PAGE = ROOT / "docs" / "missing-signals.md"

GROUPS = {
    "training": ("h200x2-a", "h200x2-b", "h200x1-e-extra", "h200x1-h1", "h200x1-h2", "h200x2-i"),
    "attacks": ("h200x2-f1", "h200x2-f2", "h200x2-g"),
}
"""Nothing of either was in the shipped calibration; of the first, runs of training alone."""

WHOLE = (
    "h200x2-c1",
    "h200x2-c2",
    "h200x2-c3",
    "h200x2-d1",
    "h200x2-d2",
    "h200x2-f1",
    "h200x2-f2",
    "h200x2-g",
)
"""Recordings of minutes whose runs, warm-ups in them, are all counted: what a slow sampler sees."""

SLOW_SECONDS = 15.0
LINEAR_CASES = {"power": "power-linear"}
"""Cases in which the published equation on power alone is shown too, and how they are called then."""

KINDS = ("train", "vit", "resnet")
TARGET = Target.EXECUTED
H200 = CHIPS["H200-SXM"]


class Scored(NamedTuple):
    """One estimate beside its truth."""

    workload: str
    estimate: Estimate
    truth_flop: float


def main() -> None:
    """Measure and write, or draw the page from what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--page", action="store_true", help="draw docs/missing-signals.md and measure nothing"
    )
    parser.add_argument("--show", action="store_true", help="print that page, and write nothing")
    parser.add_argument("--public", type=Path, default=None, help="folder of other people's recordings")
    asked = parser.parse_args()
    if asked.public is not None:
        for line in public_lines(asked.public):
            sys.stdout.write(f"{line}\n")
        return
    if asked.show:
        sys.stdout.write(page(json.loads(RESULTS.read_text())))
        return
    if not asked.page:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(answers(), indent=1, allow_nan=False) + "\n")
    PAGE.write_text(page(json.loads(RESULTS.read_text())))


def answers() -> dict[str, object]:
    """Return every row of every group."""
    rows = [row for group, names in GROUPS.items() for row in _rows(group, _runs(names))]
    rows += _rows("whole recordings", _whole())
    return {
        "command": "python benchmarks/missing_signals.py",
        "target": TARGET.value,
        "groups": {name: list(names) for name, names in (GROUPS | {"whole recordings": WHOLE}).items()},
        "rows": rows,
    }


Case = tuple[str, bool, Scored]


def _runs(names: Sequence[str]) -> Iterator[Case]:
    """Yield each run under each case, with and without the shipped calibration."""
    for name in names:
        dataset = open_dataset(ROOT / "datasets" / name)
        runs = [run for run in dataset.runs if _counts(run)]
        for case, recording in _cases(dataset.recording):
            yield from _scored(case, recording, dataset, runs)


def _cases(recording: Recording) -> Iterator[tuple[str, Recording]]:
    for case, kept in KEPT.items():
        yield case, keeping(recording, kept)
    yield "boost-assumed", _at_boost(keeping(recording, KEPT["tensor-and-power"]))
    yield "node", as_node(recording, H200.power_limit_watts)


def _scored(case: str, recording: Recording, dataset: Dataset, runs: Sequence[Run]) -> Iterator[Case]:
    """Ask about the logged stretches, settled on what the whole recording showed."""
    settled = [logged_session(dataset.recording, run) for run in runs]
    sessions = [
        cut_session(recording.traces, each.start_ns, each.stop_ns, name=each.name) for each in settled
    ]
    truths = [run.truth.flop(TARGET) or 0.0 for run in runs]
    yield from _asked(case, recording, sessions, truths, len(dataset.recording.traces))


def _whole() -> Iterator[Case]:
    """Yield whole recordings from their first run to their last, fast and at 15 s."""
    for name in WHOLE:
        dataset = open_dataset(ROOT / "datasets" / name)
        runs = [*dataset.runs, *open_runs(ROOT / "datasets" / name / "other_runs.json")]
        truth = sum(run.truth.flop(TARGET) or 0.0 for run in runs)
        start, stop = min(run.start_ns for run in runs), max(run.stop_ns for run in runs)
        slow = sampled_every(dataset.recording, interval_seconds=SLOW_SECONDS)
        for case, recording in (
            ("power, 10 Hz", keeping(dataset.recording, KEPT["power"])),
            ("instant power, 15 s", keeping(slow, ("power_instant_watts",))),
            ("mean power, 15 s", keeping(slow, ("power_watts",))),
            ("power and clock, 15 s", keeping(slow, KEPT["power-and-clock"])),
            ("node power, 15 s", as_node(keeping(slow, KEPT["mean-power"]), H200.power_limit_watts)),
        ):
            session = cut_session(recording.traces, start, stop, name=name)
            yield from _asked(case, recording, [session], [truth], len(dataset.recording.traces))


def _asked(
    case: str, recording: Recording, sessions: Sequence[Session], truths: Sequence[float], n_gpus: int
) -> Iterator[Case]:
    for is_calibrated in (True, False):
        calibration = calibration_at_hand([H200.name]) if is_calibrated else None
        told = witnessed(recording, sessions, calibration, Assumptions(n_gpus))
        for answer, truth in zip(told, truths, strict=True):
            by_name = answer.estimates[TARGET]
            if truth > 0 and (shown := shown_method(by_name)):
                yield case, is_calibrated, Scored(answer.session.name, by_name[shown], truth)
            if truth > 0 and is_calibrated and case in LINEAR_CASES and "linear-power" in by_name:
                narrow = by_name["linear-power"]
                yield LINEAR_CASES[case], True, Scored(answer.session.name, narrow, truth)


def _rows(group: str, cases: Iterator[Case]) -> list[dict[str, object]]:
    found: dict[tuple[str, bool], list[Scored]] = defaultdict(list)
    for case, is_calibrated, scored in cases:
        found[case, is_calibrated].append(scored)
    return [_row(group, *key, scored) for key, scored in found.items()]


def _row(group: str, case: str, is_calibrated: bool, scored: Sequence[Scored]) -> dict[str, object]:
    errors = np.array([each.estimate.point_flop / each.truth_flop - 1 for each in scored])
    ratios = np.array(
        [
            each.estimate.high_flop / each.estimate.low_flop if each.estimate.low_flop else np.inf
            for each in scored
        ]
    )
    ratio = float(np.median(ratios))
    methods = [each.estimate.method for each in scored]
    return {
        "group": group,
        "case": case,
        "calibrated": is_calibrated,
        "method": max(set(methods), key=methods.count),
        "n_runs": len(scored),
        "n_workloads": len({each.workload for each in scored}),
        "median_error": float(np.median(np.abs(errors))),
        "bias": float(np.median(errors)),
        "p90_error": float(np.quantile(np.abs(errors), 0.9)),
        "coverage": float(np.mean([each.estimate.contains(each.truth_flop) for each in scored])),
        "below_most": float(np.mean([each.truth_flop <= each.estimate.most_flop for each in scored])),
        "ratio": ratio if np.isfinite(ratio) else None,
    }


def _counts(run: Run) -> bool:
    kind = run.config.parameters.get("kind", "train")
    return kind in KINDS and run.truth.flop(TARGET) is not None


def _at_boost(recording: Recording) -> Recording:
    """Return a recording whose clock is assumed to be the boost clock: what a fixed peak does."""
    traces = tuple(
        Trace(
            trace.device,
            trace.time_ns,
            {**trace.channels, "sm_clock_hertz": np.full(len(trace), H200.boost_clock_hertz)},
        )
        for trace in recording.traces
    )
    return Recording(recording.name, traces, recording.provenance, recording.findings)


if __name__ == "__main__":
    main()
