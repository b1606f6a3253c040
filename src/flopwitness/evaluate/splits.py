"""Who is calibrated on and who is held out: a workload is never on both sides."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.evaluate.examples import Examples, concatenated

CALIBRATION_RATIO = 2 / 3
"""Share of the workloads that an estimator is fitted on: 59 of 88.

The published experiment's protocol: shuffle the workloads, two thirds calibrate, one third evaluates.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Positions of the examples to fit on and of those to score.

    Attributes
    ----------
    train, test : ndarray of int64, none in both
        Positions in one :class:`Examples`. ``train`` is empty where the estimators come fitted, from a
        calibration file; ``test`` has at least one entry.
    name : str
        Which split of its protocol this is.

    Raises
    ------
    InvalidNounError
        When nothing is tested, or a side holds something twice or shares a position with the other.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    name: str

    def __post_init__(self) -> None:
        """Refuse sides that overlap, and a test of nothing."""
        for side in ("train", "test"):
            rows = np.array(getattr(self, side), dtype=np.int64)
            if rows.ndim != 1 or (rows < 0).any() or len(np.unique(rows)) < len(rows):
                raise InvalidNounError(f"split {self.name!r}: {side} needs different positions from 0 on")
            rows.flags.writeable = False
            object.__setattr__(self, side, rows)
        if not len(self.test):
            raise InvalidNounError(f"split {self.name!r}: nothing is tested")
        if np.isin(self.train, self.test).any():
            raise InvalidNounError(f"split {self.name!r}: an example is on both sides")


def random_splits(examples: Examples, *, n_splits: int = 200, rng: np.random.Generator) -> tuple[Split, ...]:
    """Hold out a random third of the workloads, again and again: the published experiment's protocol.

    Every trace of a workload is on the same side. In-distribution: a held-out workload has siblings of
    its family on the other side.

    Parameters
    ----------
    examples : Examples
        At least two workloads.
    n_splits : int
        How often to shuffle, > 0.
    rng : numpy.random.Generator
        Source of chance; the order of the examples does not matter.

    Raises
    ------
    BadInputError
        When there are too few workloads.
    """
    _require(2, examples.n_workloads, "workloads to split at random")
    _require(1, n_splits, "splits")
    everything = np.arange(len(examples))
    return tuple(
        _apart(examples, everything, _random_third(examples, rng), name=f"random {number}")
        for number in range(n_splits)
    )


def random_splits_one_trace(
    examples: Examples, *, n_splits: int = 200, rng: np.random.Generator
) -> tuple[Split, ...]:
    """Do as :func:`random_splits`, with one random trace of each workload in each split.

    The published experiment's companion code did this where its report says all ten traces.

    Raises
    ------
    BadInputError
        When there are too few workloads.
    """
    _require(2, examples.n_workloads, "workloads to split at random")
    _require(1, n_splits, "splits")
    splits = []
    for number in range(n_splits):
        shuffled = rng.permutation(len(examples))
        _, first = np.unique(examples.workloads[shuffled], return_index=True)
        drawn = np.sort(shuffled[first])
        splits.append(_apart(examples, drawn, _random_third(examples, rng), name=f"one trace {number}"))
    return tuple(splits)


def folds(
    examples: Examples, *, n_folds: int = 5, n_repeats: int = 5, rng: np.random.Generator
) -> tuple[Split, ...]:
    """Hold out each workload once a repeat, in folds of nearly equal numbers of workloads.

    Raises
    ------
    BadInputError
        When there are fewer than two folds, or fewer workloads than folds.
    """
    _require(2, n_folds, "folds")
    _require(1, n_repeats, "repeats")
    _require(n_folds, examples.n_workloads, "workloads, one for each fold")
    everything = np.arange(len(examples))
    names = np.unique(examples.workloads)
    bounds = np.linspace(0, len(names), n_folds + 1).round().astype(int).tolist()
    splits = []
    for repeat in range(n_repeats):
        shuffled = rng.permutation(names)
        splits += [
            _apart(examples, everything, shuffled[start:stop], name=f"repeat {repeat} fold {number}")
            for number, (start, stop) in enumerate(pairwise(bounds))
        ]
    return tuple(splits)


def leave_family_out(examples: Examples) -> tuple[Split, ...]:
    """Hold out each family of workloads once, by name.

    Raises
    ------
    BadInputError
        When there is only one family, or nothing is left to calibrate on.
    """
    return _leave_out(examples, examples.families, "families")


def leave_dataset_out(examples: Examples, *, keep_shared_workloads: bool = False) -> tuple[Split, ...]:
    """Hold out each capture once, by name.

    Parameters
    ----------
    examples : Examples
        Of two captures or more.
    keep_shared_workloads : bool
        Captures often run the same programs. Unless this is set, what ran in the held-out capture is
        not calibrated on elsewhere either; when it is set, the figure speaks of new hardware alone,
        not of new programs.

    Raises
    ------
    BadInputError
        When there is only one capture, or nothing is left to calibrate on.
    """
    return _leave_out(examples, examples.datasets, "captures", keep_shared=keep_shared_workloads)


def frozen(
    calibration: Examples, test: Examples, *, keep_shared_workloads: bool = False
) -> tuple[Examples, Split]:
    """Fit once on some captures, then score all of others.

    Parameters
    ----------
    calibration, test : Examples
        With the same columns and target.
    keep_shared_workloads : bool
        As in :func:`leave_dataset_out`: unless this is set, calibration examples of a workload that is
        tested are left out. The same workload of the same capture is refused either way.

    Returns
    -------
    Examples, Split
        Calibration followed by test, and the one split of them.

    Raises
    ------
    BadInputError
        When nothing is left to calibrate on, or one run would be on both sides.
    """
    examples = concatenated([calibration, test])
    is_test = np.arange(len(examples)) >= len(calibration)
    if keep_shared_workloads:
        _refuse_same_runs(calibration, test)
    return examples, _held_out(examples, is_test, name="frozen", keep_shared=keep_shared_workloads)


def _require(at_least: int, got: int, what: str) -> None:
    if got < at_least:
        raise BadInputError("evaluation", "", expected=f"at least {at_least} {what}", got=str(got))


def _random_third(examples: Examples, rng: np.random.Generator) -> NDArray[np.str_]:
    """Draw the workloads to hold out; they are sorted first, so that the order of rows has no say."""
    shuffled = rng.permutation(np.unique(examples.workloads))
    return shuffled[round(len(shuffled) * CALIBRATION_RATIO) :]


def _apart(examples: Examples, rows: NDArray[np.int64], held_out: NDArray[np.str_], *, name: str) -> Split:
    """Split these rows by whether their workload is held out."""
    is_test = np.isin(examples.workloads[rows], held_out)
    return Split(rows[~is_test], rows[is_test], name)


def _leave_out(
    examples: Examples, labels: NDArray[np.str_], what: str, *, keep_shared: bool = False
) -> tuple[Split, ...]:
    _require(2, len(np.unique(labels)), what)
    return tuple(
        _held_out(examples, labels == label, name=str(label), keep_shared=keep_shared)
        for label in np.unique(labels)
    )


def _held_out(examples: Examples, is_test: NDArray[np.bool_], *, name: str, keep_shared: bool) -> Split:
    """Hold out these examples and, unless shared workloads are kept, everything of their workloads."""
    tested = examples.workloads[is_test]
    train = ~is_test if keep_shared else ~np.isin(examples.workloads, tested)
    for side, chosen in (("tested", is_test), ("calibrated on", train)):
        if not chosen.any():
            expected = f"an example to be {side} whose workload is on one side only"
            raise BadInputError("evaluation", f"split {name!r}", expected=expected, got="none")
    return Split(np.flatnonzero(train), np.flatnonzero(is_test), name)


def _refuse_same_runs(calibration: Examples, test: Examples) -> None:
    seen = set(zip(calibration.datasets.tolist(), calibration.workloads.tolist(), strict=True))
    if both := sorted(seen.intersection(zip(test.datasets.tolist(), test.workloads.tolist(), strict=True))):
        dataset, workload = both[0]
        raise BadInputError(
            "evaluation", dataset, expected="a capture on one side only", got=f"{workload!r} on both"
        )
