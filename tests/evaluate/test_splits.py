"""Who is held out: whole workloads, folds of them, families, captures; never one workload on both sides."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.made import drawn_examples, examples_of, noisy_examples
from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.splits import (
    Split,
    folds,
    frozen,
    leave_dataset_out,
    leave_family_out,
    random_splits,
    random_splits_one_trace,
)


def sides(examples: Examples, split: Split) -> tuple[set[str], set[str]]:
    """Return the workloads on either side."""
    train, test = examples.workloads[split.train], examples.workloads[split.test]
    return set(train.tolist()), set(test.tolist())


def all_splits(examples: Examples, seed: int) -> list[Split]:
    """Return the splits of every protocol that these examples allow."""
    rng = np.random.default_rng(seed)
    protocols = (
        lambda: random_splits(examples, n_splits=3, rng=rng),
        lambda: random_splits_one_trace(examples, n_splits=3, rng=rng),
        lambda: folds(examples, n_folds=2, n_repeats=2, rng=rng),
        lambda: leave_family_out(examples),
        lambda: leave_dataset_out(examples),
    )
    found: list[Split] = []
    for make in protocols:
        try:
            found += make()
        except BadInputError:
            continue
    return found


@given(examples=drawn_examples(), seed=st.integers(0, 1000))
def test_a_workload_is_never_on_both_sides(examples: Examples, seed: int) -> None:
    """Traces of a held-out workload would tell the estimator the answer."""
    for split in all_splits(examples, seed):
        train, test = sides(examples, split)

        assert not train & test


@given(calibration=drawn_examples(), test=drawn_examples())
def test_a_frozen_calibration_knows_no_tested_workload(calibration: Examples, test: Examples) -> None:
    """The same program in two captures is one workload."""
    try:
        examples, split = frozen(calibration, test)
    except BadInputError:
        assert set(calibration.workloads.tolist()) <= set(test.workloads.tolist())
        return

    train, tested = sides(examples, split)

    assert not train & tested
    assert tested == set(test.workloads.tolist())


@given(seed=st.integers(0, 1000), order=st.permutations(range(18)))
def test_the_order_of_the_examples_has_no_say(seed: int, order: list[int]) -> None:
    """The same seed holds out the same workloads, however the rows are sorted."""
    examples = noisy_examples(6, 3)
    permuted = examples.take(order)

    expected = [
        sides(examples, s) for s in random_splits(examples, n_splits=2, rng=np.random.default_rng(seed))
    ]
    actual = [
        sides(permuted, s) for s in random_splits(permuted, n_splits=2, rng=np.random.default_rng(seed))
    ]

    assert expected == actual


@pytest.mark.parametrize(("n_workloads", "n_train"), [(88, 59), (68, 45), (3, 2), (2, 1), (4, 3)])
def test_two_thirds_of_the_workloads_calibrate(n_workloads: int, n_train: int) -> None:
    """The published experiment splits 88 workloads into 59 and 29."""
    examples = noisy_examples(n_workloads, 2)

    (split,) = random_splits(examples, n_splits=1, rng=np.random.default_rng(0))
    train, test = sides(examples, split)

    assert (len(train), len(test)) == (n_train, n_workloads - n_train)
    assert (len(split.train), len(split.test)) == (2 * len(train), 2 * len(test))


def test_random_splits_differ_from_each_other() -> None:
    """Each split shuffles again."""
    examples = noisy_examples(12, 1)

    splits = random_splits(examples, n_splits=20, rng=np.random.default_rng(0))

    assert len(splits) == 20
    assert len({tuple(split.test.tolist()) for split in splits}) > 10


def test_every_workload_is_as_likely_to_be_held_out() -> None:
    """Over many splits each workload is held out a third of the time."""
    examples = noisy_examples(9, 1)

    splits = random_splits(examples, n_splits=900, rng=np.random.default_rng(0))
    times = Counter(row for split in splits for row in split.test.tolist())

    assert min(times.values()) > 240
    assert max(times.values()) < 360


def test_one_trace_splits_hold_each_workload_once() -> None:
    """The companion code draws one trace of each workload in each split, another one each time."""
    examples = noisy_examples(6, 10)

    splits = random_splits_one_trace(examples, n_splits=50, rng=np.random.default_rng(0))
    rows = [np.concatenate([split.train, split.test]) for split in splits]

    assert all(sorted(examples.workloads[row]) == sorted(set(examples.workloads)) for row in rows)
    assert len(np.unique(np.concatenate(rows))) > 50


def test_folds_hold_out_every_example_once_a_repeat() -> None:
    """Five repeats of five folds score each workload five times."""
    examples = noisy_examples(13, 2)

    splits = folds(examples, n_folds=5, n_repeats=3, rng=np.random.default_rng(0))
    times = Counter(row for split in splits for row in split.test.tolist())

    assert len(splits) == 15
    assert set(times) == set(range(26))
    assert set(times.values()) == {3}
    assert {len(sides(examples, split)[1]) for split in splits} == {2, 3}


def test_a_family_is_held_out_whole() -> None:
    """Each family is tested once, by name, without a sibling on the other side."""
    examples = examples_of(["a", "b", "c"], families=["wide", "deep", "wide"])

    deep, wide = leave_family_out(examples)

    assert (deep.name, deep.train.tolist(), deep.test.tolist()) == ("deep", [0, 2], [1])
    assert (wide.name, wide.train.tolist(), wide.test.tolist()) == ("wide", [1], [0, 2])


def test_a_held_out_capture_takes_its_workloads_along() -> None:
    """What ran on the tested node is not calibrated on elsewhere."""
    examples = examples_of(["a", "b", "a", "c"], datasets=["node-a", "node-a", "node-b", "node-b"])

    first, second = leave_dataset_out(examples)

    assert (first.name, first.train.tolist(), first.test.tolist()) == ("node-a", [3], [0, 1])
    assert (second.name, second.train.tolist(), second.test.tolist()) == ("node-b", [1], [2, 3])


def test_shared_workloads_stay_on_request() -> None:
    """New hardware under known programs is a question of its own."""
    examples = examples_of(["a", "b", "a"], datasets=["node-a", "node-a", "node-b"])

    _, second = leave_dataset_out(examples, keep_shared_workloads=True)

    assert (second.train.tolist(), second.test.tolist()) == ([0, 1], [2])


def test_a_capture_that_leaves_nothing_to_calibrate_on_is_refused() -> None:
    """All that node-b ran also ran on node-a."""
    examples = examples_of(["a", "b", "a"], datasets=["node-a", "node-a", "node-b"])

    with pytest.raises(BadInputError, match=r"split 'node-a'.*got none"):
        leave_dataset_out(examples)


def test_frozen_puts_calibration_before_test() -> None:
    """Positions speak of both sets put together."""
    calibration, test = examples_of(["a", "b"]), examples_of(["b", "c"], datasets=["node-b", "node-b"])

    examples, split = frozen(calibration, test)

    assert examples.workloads.tolist() == ["a", "b", "b", "c"]
    assert (split.train.tolist(), split.test.tolist()) == ([0], [2, 3])


def test_frozen_keeps_shared_workloads_on_request() -> None:
    """The same programs on new hardware are a question of their own."""
    calibration, test = examples_of(["a", "b"]), examples_of(["b", "c"], datasets=["node-b", "node-b"])

    _, split = frozen(calibration, test, keep_shared_workloads=True)

    assert (split.train.tolist(), split.test.tolist()) == ([0, 1], [2, 3])


def test_frozen_never_tests_what_it_was_fitted_on() -> None:
    """A workload of one capture is on one side, whatever is asked for."""
    examples = examples_of(["a", "b"])

    with pytest.raises(BadInputError, match="one side only, got 'b' on both"):
        frozen(examples, examples.take([1]), keep_shared_workloads=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda e: random_splits(e, rng=np.random.default_rng(0)),
        lambda e: random_splits_one_trace(e, rng=np.random.default_rng(0)),
        lambda e: folds(e, rng=np.random.default_rng(0)),
        leave_family_out,
        leave_dataset_out,
    ],
)
def test_too_few_groups_are_refused_in_one_line(make: Callable[[Examples], tuple[Split, ...]]) -> None:
    """One workload of one family and one capture cannot be split."""
    with pytest.raises(BadInputError, match=r"expected at least \d .*, got 1") as refused:
        make(examples_of(["a", "a"]))

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("train", "test"), [([0, 1], [1]), ([], []), ([0], []), ([0, 0], [1]), ([-1], [1]), ([[0]], [1])]
)
def test_sides_that_overlap_or_test_nothing_are_refused(train: list[int], test: list[int]) -> None:
    """A split that leaks cannot exist."""
    with pytest.raises(InvalidNounError, match="split 'bad'"):
        Split(np.array(train, dtype=np.int64), np.array(test, dtype=np.int64), "bad")
