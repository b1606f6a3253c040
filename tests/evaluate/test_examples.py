"""Examples are checked once, cannot be written to, and say which group each row belongs to."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from evaluate.made import examples_of, noisy_examples
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target
from flopwitness.evaluate.examples import concatenated


@pytest.mark.parametrize("truth_flop", [0.0, -1.0, np.nan, np.inf])
def test_truth_that_cannot_be_a_count_is_refused(truth_flop: float) -> None:
    """Errors are relative to the truth, so it is positive and finite."""
    with pytest.raises(InvalidNounError, match="truth of example 1"):
        examples_of(["a", "b"], truth_flop=[1e15, truth_flop])


@pytest.mark.parametrize("column", ["truth_flop", "workloads", "families", "datasets", "features"])
def test_columns_of_different_length_are_refused(column: str) -> None:
    """Every array has one entry an example."""
    examples = examples_of(["a", "b", "c"])

    with pytest.raises(InvalidNounError, match="shape"):
        replace(examples, **{column: getattr(examples, column)[:2]})


def test_a_feature_name_that_occurs_twice_is_refused() -> None:
    """An estimator picks columns by name."""
    examples = examples_of(["a", "b"])

    with pytest.raises(InvalidNounError, match="twice: \\['x'\\]"):
        replace(examples, features=np.ones((2, 2)), feature_names=("x", "x"))


def test_a_workload_without_a_name_is_refused() -> None:
    """Nameless workloads would all be one group."""
    with pytest.raises(InvalidNounError, match="no workload"):
        examples_of(["a", ""])


def test_unknown_features_are_kept_unknown() -> None:
    """NaN in a feature is a fact, not a fault."""
    examples = replace(examples_of(["a"]), features=np.array([[np.nan]]))

    assert np.isnan(examples.features).all()


def test_nobody_can_write_to_examples() -> None:
    """What was checked stays as it was checked, whatever the caller keeps of it."""
    features = np.ones((1, 1))
    examples = replace(examples_of(["a"]), features=features)

    features[0, 0] = 7.0

    assert examples.features[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        examples.features[0, 0] = 7.0


def test_take_keeps_rows_together() -> None:
    """A chosen example keeps its feature, truth and groups."""
    examples = examples_of(["a", "b", "c"], families=["f", "g", "h"], datasets=["x", "y", "z"])

    taken = examples.take([2, 0])

    assert taken.workloads.tolist() == ["c", "a"]
    assert taken.families.tolist() == ["h", "f"]
    assert taken.datasets.tolist() == ["z", "x"]
    assert taken.truth_flop.tolist() == [3e15, 1e15]
    assert taken.features.ravel().tolist() == [1.5e15, 0.5e15]


def test_parts_put_together_are_the_whole() -> None:
    """Taking pieces and joining them changes nothing."""
    whole = noisy_examples(4, 2)

    joined = concatenated([whole.take(range(3)), whole.take(range(3, 8))])

    assert joined.features.tolist() == whole.features.tolist()
    assert joined.workloads.tolist() == whole.workloads.tolist()
    assert joined.n_workloads == 4


def test_nothing_cannot_be_put_together() -> None:
    """Without a part there are no columns."""
    with pytest.raises(InvalidNounError, match="no examples"):
        concatenated([])


def test_two_targets_are_never_put_together() -> None:
    """Executed and algorithmic FLOP are different counts."""
    examples = examples_of(["a"])

    with pytest.raises(InvalidNounError, match="targets differ"):
        concatenated([examples, replace(examples, target=Target.ALGORITHMIC)])


def test_different_columns_are_never_put_together() -> None:
    """The same position must mean the same feature."""
    examples = examples_of(["a"])

    with pytest.raises(InvalidNounError, match="columns differ"):
        concatenated([examples, replace(examples, feature_names=("power_watts",))])


def test_examples_come_back_from_a_worker_process_as_they_went() -> None:
    """Pickling keeps every value and the protection against writing."""
    examples = noisy_examples(3, 2)

    back = pickle.loads(pickle.dumps(examples))  # noqa: S301 - our own bytes

    assert back.features.tolist() == examples.features.tolist()
    assert back.target is examples.target
    assert not back.truth_flop.flags.writeable
