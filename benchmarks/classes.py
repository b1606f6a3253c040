"""How well training, inference and other work are told apart: left-out families, rivals, attacks, one look.

Fits on the recordings named below and asks about what was left out of each fit; then fits on all of them and
asks, once, about a node and families that no fit has seen, and about the red team's runs. Prints JSON, or
writes it with ``--output``.
"""

import argparse
import itertools
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from classes_rivals import forest_opinions, utilisation_opinions

from flopwitness.app.classifying import class_of, family_of, run_windows
from flopwitness.app.opening import bundled_datasets, open_dataset
from flopwitness.core.workclass import WorkClass
from flopwitness.core.workload import Run
from flopwitness.estimate.classify.fitting import Lessons, fitted_classifier
from flopwitness.estimate.classify.opinion import weighed
from flopwitness.estimate.classify.windows import COLUMNS, Windows
from flopwitness.evaluate.classification import Answered, balanced_accuracy, class_shares, reliability

FITTED = (
    *("h200x2-c1", "h200x2-c2", "h200x2-c3", "h200x2-d1", "h200x2-d2", "h200x2-c-other"),
    *("h200x1-e-extra", "h200x1-e-inference", "h200x1-h1", "h200x1-h2"),
    *("h200x2-f-formats", "h200x2-g-formats"),
)
ONCE = ("h200x2-i",)
ANOTHER_PROGRAM = ("h200x2-a", "h200x2-b")
ATTACKED = ("h200x2-f1", "h200x2-f2", "h200x2-g")
SHOWN = ("interleave", "lora", "throttle", "bursts", "split", "handover", "half", "twin")

UNUSUAL = ("formats", "formats-asked", "burn")
"""Families that are not benign work in half precision: shown apart."""

MECHANISMS = {
    "prefill": ("prefill", "one-embed", "one-ask-experts", "formats-asked"),
    "decode": ("decode", "one-decode-few"),
    "serve": ("one-serve", "one-serve-gaps"),
    "see": ("one-see", "one-draw"),
    "vision": ("vision",),
    "adapters": ("lora",),
    "experts": ("experts",),
    "formats": ("formats",),
}
"""Families that work alike; other training of decoders is one mechanism, each other load its own."""


@dataclass(frozen=True)
class Asked:
    """One run and its windows."""

    run: Run
    dataset: str
    windows: Windows
    session_samples: Any

    @property
    def label(self) -> WorkClass:
        """What kind of work it is."""
        return class_of(self.run.config)

    @property
    def family(self) -> str:
        """The family that is left out with it."""
        return family_of(self.run.config)

    @property
    def mechanism(self) -> str:
        """Name of the families that work like its own."""
        named = next((name for name, members in MECHANISMS.items() if self.family in members), "")
        return named or ("decoder" if self.label is WorkClass.TRAINING else self.family)


def main() -> int:
    """Ask, and write what was said."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="file to write; else standard output")
    parser.add_argument("--datasets", type=Path, default=bundled_datasets())
    options = parser.parse_args()
    fitted = tuple(asked_of(options.datasets, FITTED))
    answer = {
        "protocol": {"fitted": FITTED, "asked_once": ONCE, "attacked": ATTACKED, "unusual": UNUSUAL},
        "ladder": {
            name: scored(left_out(fitted, key, by_windows), unusual=UNUSUAL) for name, key in LADDER.items()
        },
        "rivals": {
            name: scored(left_out(fitted, LADDER["family"], ask), unusual=UNUSUAL)
            for name, ask in {"utilisation": utilisation_opinions, "forest": forest_opinions}.items()
        },
        "once": scored(by_windows(fitted, tuple(asked_of(options.datasets, ONCE))), each=True),
        "another_program": scored(by_windows(fitted, tuple(asked_of(options.datasets, ANOTHER_PROGRAM)))),
        "attacked": by_setting(by_windows(fitted, tuple(asked_of(options.datasets, ATTACKED)))),
    }
    text = json.dumps(answer, indent=1, allow_nan=False) + "\n"
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


LADDER: dict[str, Callable[[Asked], str]] = {
    "run": lambda one: f"{one.dataset} {one.run.config.name} {one.run.trace_index}",
    "workload": lambda one: one.run.config.name,
    "family": lambda one: one.family,
    "mechanism": lambda one: one.mechanism,
}
"""What is left out together; figures of two rungs are never mixed."""

N_RUN_FOLDS = 20
"""Runs and workloads are left out in this many parts; families and mechanisms one by one."""


def asked_of(folder: Path, names: Sequence[str]) -> Iterator[Asked]:
    """Yield the runs of datasets."""
    for name in names:
        dataset = open_dataset(folder / name)
        for run, windows in zip(dataset.runs, run_windows(dataset), strict=True):
            yield Asked(run, name, windows, dataset)


def left_out(
    runs: tuple[Asked, ...],
    key: Callable[[Asked], str],
    ask: Callable[[tuple[Asked, ...], tuple[Asked, ...]], list[Answered]],
) -> list[Answered]:
    """Leave out everything of one key, or of one part of the keys, and ask about it."""
    keys = np.array([key(one) for one in runs])
    names = np.random.default_rng(0).permutation(np.unique(keys))
    answers = []
    for part in np.array_split(names, min(len(names), max(N_RUN_FOLDS, _n_alone(names)))):
        held = np.isin(keys, part)
        rest, asked = (tuple(itertools.compress(runs, rows)) for rows in (~held, held))
        answers += ask(rest, asked)
    return answers


def _n_alone(names: np.ndarray) -> int:
    return len(names) if len(names) <= 100 else N_RUN_FOLDS


def by_windows(rest: tuple[Asked, ...], asked: tuple[Asked, ...]) -> list[Answered]:
    """Ask the product's classifier."""
    classifier = fitted_classifier(_lessons(rest), "H200-SXM")
    return [
        Answered(one.label, weighed(one.windows, classifier), one.family, one.run.config.name, one.dataset)
        for one in asked
    ]


def _lessons(runs: tuple[Asked, ...]) -> Lessons:
    counts = [len(one.windows.values) for one in runs]
    labels = [(one.label.value, one.family, one.run.config.name) for one in runs]
    columns = (np.repeat(np.array(column, dtype=np.str_), counts) for column in zip(*labels, strict=True))
    values = np.concatenate([np.empty((0, len(COLUMNS))), *(one.windows.values for one in runs)])
    return Lessons(values, *columns)


def scored(answers: list[Answered], *, unusual: Sequence[str] = (), each: bool = False) -> dict[str, Any]:
    """Return the figures of some answers, unusual families apart, and what was wrong or left open."""
    usual = [one for one in answers if one.family not in unusual]
    said = {
        "n_runs": len(usual),
        "balanced_accuracy": _known(asdict(balanced_accuracy(usual))),
        "classes": {name.value: asdict(one) for name, one in class_shares(usual).items()},
        "reliability": [asdict(one) for one in reliability(usual)],
        "other_not_taken_for_ai_ratio": _not_taken(usual),
        "wrong": _workloads(one for one in usual if one.opinion.answer not in (one.truth, WorkClass.UNKNOWN)),
        "unknown": _workloads(one for one in usual if one.opinion.answer is WorkClass.UNKNOWN),
    }
    if apart := [one for one in answers if one.family in unusual]:
        said["unusual"] = {
            family: scored([one for one in apart if one.family == family])
            for family in sorted({one.family for one in apart})
        }
    if each:
        said["each"] = _workloads(usual)
    return said


def _known(figures: dict[str, float]) -> dict[str, float | None]:
    """Return figures with null for what could not be computed: JSON knows no NaN."""
    return {name: None if np.isnan(value) else value for name, value in figures.items()}


def _not_taken(answers: list[Answered]) -> float | None:
    other = [one.opinion.answer for one in answers if one.truth is WorkClass.OTHER]
    ai = (WorkClass.TRAINING, WorkClass.INFERENCE)
    return float(np.mean([answer not in ai for answer in other])) if other else None


def _workloads(answers: Any) -> list[dict[str, Any]]:
    grouped: dict[tuple[str, str, str, str], list[dict[WorkClass, float]]] = defaultdict(list)
    for one in answers:
        key = (one.truth.value, one.family, one.workload, one.opinion.answer.value)
        grouped[key].append(dict(one.opinion.probabilities))
    return [
        {
            "truth": truth,
            "family": family,
            "workload": workload,
            "answer": answer,
            "n_runs": len(said),
            "probabilities": _mean_probabilities(said),
        }
        for (truth, family, workload, answer), said in grouped.items()
    ]


def _mean_probabilities(said: list[dict[WorkClass, float]]) -> dict[str, float]:
    known = [one for one in said if one]
    names = known[0] if known else ()
    return {name.value: round(float(np.mean([one[name] for one in known])), 3) for name in names}


def by_setting(answers: list[Answered]) -> dict[str, Any]:
    """Return the answers for attacks: shares by attack, and the shown ones setting by setting."""
    grouped = defaultdict(list)
    for one in answers:
        grouped[one.family].append(one)
    return {
        "attacks": {
            name: {
                "n_runs": len(said),
                "answers": {
                    answer.value: sum(one.opinion.answer is answer for one in said) / len(said)
                    for answer in WorkClass
                },
            }
            for name, said in sorted(grouped.items())
        },
        "shown": _workloads(one for one in answers if one.family.startswith(SHOWN)),
    }


if __name__ == "__main__":
    sys.exit(main())
