"""What recordings teach the classifier of work, and the one that is shipped."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from flopwitness.app.classifying import (
    FAMILIES,
    KIND,
    VERSION,
    class_of,
    family_of,
    lessons_of,
    open_classifier,
    run_windows,
    shipped_classifier,
    write_classifier,
)
from flopwitness.app.opening import open_dataset
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError, CalibrationMismatchError
from flopwitness.core.workclass import KNOWN_CLASSES, ClassOpinion, WorkClass
from flopwitness.core.workload import WorkloadConfig
from flopwitness.estimate.classify.fitting import Lessons, fitted_classifier
from flopwitness.estimate.classify.opinion import Classifier, weighed
from flopwitness.estimate.classify.windows import COLUMNS
from flopwitness.lab.settings import KINDS
from flopwitness.storage.documents import write_document

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
NAMES = sorted(path.name for path in DATASETS.iterdir())
TAUGHT = ("h200x1-h1", "h200x1-h2")
LEFT_OUT = {"width-depth": WorkClass.TRAINING, "decode": WorkClass.INFERENCE, "sort": WorkClass.OTHER}
"""Families of the one fit that it never saw, and what they are."""

BY_CLASS = {
    WorkClass.TRAINING: {"train", "vit", "resnet"},
    WorkClass.INFERENCE: {"prefill", "decode", "serve", "vit-inference", "resnet-inference"},
}


@cache
def opened(name: str) -> Dataset:
    """Return a shipped dataset, opened once."""
    return open_dataset(DATASETS / name)


@cache
def lessons() -> Lessons:
    """Return what two recordings of many kinds of work teach."""
    return lessons_of(map(opened, TAUGHT))


@cache
def classifier() -> Classifier:
    """Return what is fitted on them without some families."""
    rows = ~np.isin(lessons().families, list(LEFT_OUT))
    return fitted_classifier(lessons().take(rows), "H200-SXM")


@cache
def shipped() -> Classifier:
    """Return the classifier that is shipped for the chip of all recordings."""
    held = shipped_classifier("H200-SXM")
    assert held is not None
    return held


def opinions(held: Classifier, family: str) -> list[ClassOpinion]:
    """Ask about every run of a family."""
    return [
        weighed(windows, held)
        for dataset in map(opened, TAUGHT)
        for run, windows in zip(dataset.runs, run_windows(dataset), strict=True)
        if family_of(run.config) == family
    ]


def config(kind: str = "", family: str = "made") -> WorkloadConfig:
    """Return a configuration, of a kind where one is named."""
    return WorkloadConfig("made", family, {"kind": kind} if kind else {})


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_the_lab_has_a_class(kind: str):
    """Named here one by one; whatever neither trains nor answers is other work."""
    expected = next((name for name, kinds in BY_CLASS.items() if kind in kinds), WorkClass.OTHER)

    assert class_of(config(kind)) is expected


def test_kinds_that_are_named_are_kinds_of_the_lab():
    """A name that nothing runs under would hide a class that is lost."""
    assert set.union(*BY_CLASS.values()) <= set(KINDS)


def test_without_a_kind_it_is_training():
    """The oldest recordings name none, and hold nothing else."""
    assert class_of(config()) is WorkClass.TRAINING


@pytest.mark.parametrize("name", NAMES)
def test_every_family_of_every_recording_has_a_name_and_one_class(name: str):
    """Else leaving one out would leave out two mechanisms, or nothing."""
    classes: dict[str, set[WorkClass]] = {}
    for run in opened(name).runs:
        classes.setdefault(family_of(run.config), set()).add(class_of(run.config))

    mixed = {family for family, held in classes.items() if len(held) > 1}
    assert mixed == set()
    assert "" not in classes


def test_a_family_has_the_same_class_in_all_recordings():
    """What is left out together is alike."""
    classes: dict[str, set[WorkClass]] = {}
    for dataset in map(opened, NAMES):
        for run in dataset.runs:
            classes.setdefault(family_of(run.config), set()).add(class_of(run.config))

    assert {family: held for family, held in classes.items() if len(held) != 1} == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (config(family="small"), config(family="batch")),
        (config(family="long-seq"), config(family="one-long")),
        (config("decode", "decode"), config("decode", "one-decode-long")),
        (config("gemm", "format-fp8"), config("gemm", "burn")),
        (config(family="format-fp8"), config(family="precision")),
    ],
)
def test_families_that_differ_in_the_recording_alone_share_a_name(one: WorkloadConfig, other: WorkloadConfig):
    """Leaving one out leaves out its like."""
    assert family_of(one) == family_of(other)


def test_products_alone_are_no_training_in_the_same_format():
    """A recording of formats holds both."""
    assert family_of(config("gemm", "format-int8")) != family_of(config("train", "format-int8"))


def test_every_family_that_is_renamed_was_recorded():
    """A name that nothing was recorded under is stale."""
    recorded = {run.config.family for dataset in map(opened, NAMES) for run in dataset.runs}

    assert set(FAMILIES) <= recorded


def test_every_run_teaches():
    """Each run of the lab is long enough for a window, and its labels stand beside each of its windows."""
    held, runs = lessons(), [run for dataset in map(opened, TAUGHT) for run in dataset.runs]

    assert held.values.shape == (len(held.classes), len(COLUMNS))
    assert np.isfinite(held.values).all()
    assert {*zip(held.classes, held.families, held.workloads, strict=True)} == {
        (class_of(run.config).value, family_of(run.config), run.config.name) for run in runs
    }


def test_nothing_teaches_nothing():
    """No windows, no labels."""
    held = lessons_of([])

    assert (held.values.shape, held.classes.shape) == ((0, len(COLUMNS)), (0,))


@pytest.mark.parametrize(("family", "expected"), LEFT_OUT.items())
def test_recorded_families_that_were_left_out_are_told_apart(family: str, expected: WorkClass):
    """One of each class, each run of it: by the others of two small recordings alone."""
    said = opinions(classifier(), family)

    assert said != []
    assert [one.answer for one in said] == [expected] * len(said)


def test_a_classifier_comes_back_from_its_file(tmp_path: Path):
    """The same answers, window by window."""
    path = tmp_path / "classifier.json"

    write_classifier(path, classifier())
    read = open_classifier(path)

    assert read.chip == "H200-SXM"
    for family in LEFT_OUT:
        for one, other in zip(opinions(read, family), opinions(classifier(), family), strict=True):
            assert (one.answer, one.reasons) == (other.answer, other.reasons)
            assert one.probabilities == pytest.approx(other.probabilities)
    values = lessons().values
    assert_allclose(read.with_rhythm.distances(values), classifier().with_rhythm.distances(values), atol=1e-3)


def test_a_file_that_was_read_is_written_the_same(tmp_path: Path):
    """Rounding happens once."""
    first, second = tmp_path / "first.json", tmp_path / "second.json"

    write_classifier(first, classifier())
    write_classifier(second, open_classifier(first))

    assert second.read_bytes() == first.read_bytes()


def test_a_name_that_is_taken_is_kept(tmp_path: Path):
    """Until somebody says that it may be replaced."""
    path = tmp_path / "classifier.json"
    path.write_text("mine")

    with pytest.raises(BadInputError):
        write_classifier(path, classifier())

    assert path.read_text() == "mine"
    write_classifier(path, classifier(), replace=True)
    assert open_classifier(path).chip == "H200-SXM"


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"format": "another", "version": VERSION, "classifier": {}}, "format"),
        ({"format": KIND, "version": VERSION + 1, "classifier": {}}, "version"),
        ({"format": KIND, "version": VERSION}, "classifier"),
        ({"format": KIND, "version": VERSION, "classifier": [1]}, "classifier"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: dict[str, object], field: str):
    """One line that names the field."""
    path = tmp_path / "classifier.json"
    write_document(path, content)

    with pytest.raises(BadInputError, match=f"field '{field}'"):
        open_classifier(path)


def test_a_file_that_lacks_a_constant_is_refused(tmp_path: Path):
    """It is a classifier, but half a one."""
    path = tmp_path / "classifier.json"
    write_document(path, {"format": KIND, "version": VERSION, "classifier": {"chip": "H200-SXM"}})

    with pytest.raises(CalibrationMismatchError, match="with_rhythm"):
        open_classifier(path)


def test_no_file_is_refused(tmp_path: Path):
    """As one line, not as a traceback."""
    with pytest.raises(BadInputError, match=r"classifier\.json"):
        open_classifier(tmp_path / "classifier.json")


def test_the_shipped_classifier_is_of_the_chip_that_it_is_named_for():
    """Or every session on it would be unknown."""
    assert shipped().chip == "H200-SXM"


def test_no_classifier_is_shipped_for_a_chip_that_nobody_recorded():
    """None, so that every session on it is unknown."""
    assert shipped_classifier("B200") is None


def test_the_shipped_classifier_knows_what_it_was_taught():
    """Of two recordings that it was fitted on, most runs of each class are right and hardly any is wrong."""
    said = {
        name: [
            (class_of(run.config), weighed(windows, shipped()).answer)
            for run, windows in zip(opened(name).runs, run_windows(opened(name)), strict=True)
        ]
        for name in TAUGHT
    }

    for truth in KNOWN_CLASSES:
        answers = [answer for held in said.values() for of, answer in held if of is truth]
        wrong = [answer for answer in answers if answer not in (truth, WorkClass.UNKNOWN)]
        assert len(wrong) <= 0.05 * len(answers)
        assert answers.count(truth) >= 0.7 * len(answers)


def test_the_shipped_classifier_comes_back_from_its_own_plain_values():
    """What is shipped is what was read: no digit is lost on the way."""
    assert Classifier.from_plain(shipped().to_plain()).to_plain() == shipped().to_plain()
