"""The classifier of work: what recordings teach it, and the one that is shipped."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from flopwitness.app.examples import logged_session
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.workclass import WorkClass
from flopwitness.core.workload import WorkloadConfig
from flopwitness.estimate.classify.opinion import Classifier
from flopwitness.estimate.classify.windows import COLUMNS, Windows, windows_of
from flopwitness.storage.documents import read_document, write_document

if TYPE_CHECKING:
    from flopwitness.estimate.classify.fitting import Lessons

KIND = "flopwitness-classifier"
VERSION = 1
SHIPPED = Path(__file__).parent / "calibrations" / "classifier"

KINDS: Mapping[str, WorkClass] = {
    **dict.fromkeys(("train", "vit", "resnet"), WorkClass.TRAINING),
    **dict.fromkeys(("prefill", "decode", "serve", "vit-inference", "resnet-inference"), WorkClass.INFERENCE),
}
"""Class of each kind of the lab's workloads; every kind that is not here is other work."""

FAMILIES: Mapping[str, str] = {
    "one-width-depth": "width-depth",
    "small": "batch",
    "one-small-batch": "batch",
    "long-seq": "long",
    "one-long": "long",
    "one-sgd": "optimizer",
    "one-accumulation": "accumulation",
    "one-recompute": "recompute",
    "one-experts": "experts",
    "one-lora": "lora",
    "one-vision": "vision",
    "one-formats": "formats",
    "precision": "formats",
    "one-prefill": "prefill",
    "one-prefill-long": "prefill",
    "one-decode": "decode",
    "one-decode-long": "decode",
    "one-ask-formats": "formats-asked",
}
"""One name for families that differ in the recording alone, so that leaving one out leaves out its like."""


def class_of(config: WorkloadConfig) -> WorkClass:
    """Return what kind of work a configuration is; without a kind it is training."""
    return KINDS.get(str(config.parameters.get("kind", "train")), WorkClass.OTHER)


def family_of(config: WorkloadConfig) -> str:
    """Return the family that is left out together with a configuration."""
    if config.family.startswith("format-"):
        return "burn" if class_of(config) is WorkClass.OTHER else "formats"
    return FAMILIES.get(config.family, config.family)


def run_windows(dataset: Dataset) -> tuple[Windows, ...]:
    """Return the windows of every run, in the order of the runs."""
    return tuple(windows_of(logged_session(dataset.recording, run)) for run in dataset.runs)


def lessons_of(datasets: Iterable[Dataset]) -> "Lessons":
    """Return the windows of every run of some datasets, with what they are of."""
    from flopwitness.estimate.classify.fitting import Lessons  # noqa: PLC0415  what a daemon asks needs no SciPy

    values, labels = [np.empty((0, len(COLUMNS)))], []
    for dataset in datasets:
        for run, windows in zip(dataset.runs, run_windows(dataset), strict=True):
            values.append(windows.values)
            label = (class_of(run.config).value, family_of(run.config), run.config.name)
            labels += [label] * len(windows.values)
    classes, families, workloads = np.array(labels, dtype=np.str_).reshape(-1, 3).T
    return Lessons(np.concatenate(values), classes, families, workloads)


def write_classifier(path: Path, classifier: Classifier, *, replace: bool = False) -> None:
    """Write a classifier, whole or not at all; ``BadInputError`` where the name is taken."""
    content = {"format": KIND, "version": VERSION, "classifier": classifier.to_plain()}
    write_document(path, content, replace=replace)


def open_classifier(path: Path) -> Classifier:
    """Open a classifier file.

    Raises
    ------
    BadInputError
        When it holds none of this version.
    CalibrationMismatchError
        When a constant is missing or no number.
    """
    held = read_document(path, kind=KIND, version=VERSION).get("classifier")
    if not isinstance(held, dict):
        expected = "an object"
        raise BadInputError(str(path), "field 'classifier'", expected=expected, got=type(held).__name__)
    return Classifier.from_plain(held)


@cache
def shipped_classifier(chip: str) -> Classifier | None:
    """Return the classifier that is shipped for a chip; None where there is none."""
    shipped = {path.stem.upper(): path for path in SHIPPED.glob("*.json")}
    return open_classifier(shipped[chip]) if chip in shipped else None
