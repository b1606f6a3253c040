"""What estimators are scored on: rows of features with their truth and the groups that they belong to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Sessions of known FLOP as arrays, of one capture or of several.

    Attributes
    ----------
    features : ndarray of shape (n_examples, n_features), float64
        One row a session; NaN where a feature is not known.
    feature_names : tuple of str, unique
        Names of the columns; an estimator picks its own of them.
    truth_flop : ndarray of shape (n_examples,), float64, > 0
        What was counted inside the program.
    workloads : ndarray of shape (n_examples,), str
        The group: sessions of one workload are never on both sides of a split, whichever capture they
        come from.
    families, datasets : ndarray of shape (n_examples,), str
        Family of the workload; name of the capture.
    target : Target
        Which FLOP ``truth_flop`` counts.
    components : ndarray of shape (n_examples, n_components), float64, or None
        What each run was made of (``flopwitness.physics.components``), NaN where not known. Estimators may
        learn from it; nothing that is asked for an estimate is ever shown it.

    Raises
    ------
    InvalidNounError
        When shapes disagree, a truth is not positive and finite, a feature name occurs twice or a
        workload has no name.

    Examples
    --------
    >>> pair = Examples(
    ...     features=np.array([[1.0], [2.0]]),
    ...     feature_names=("energy_joules",),
    ...     truth_flop=np.array([1e15, 2e15]),
    ...     workloads=np.array(["small", "large"]),
    ...     families=np.array(["dense", "dense"]),
    ...     datasets=np.array(["node-a", "node-a"]),
    ...     target=Target.EXECUTED,
    ... )
    >>> len(pair), str(pair.take([1]).workloads[0])
    (2, 'large')
    """

    features: NDArray[np.float64]
    feature_names: tuple[str, ...]
    truth_flop: NDArray[np.float64]
    workloads: NDArray[np.str_]
    families: NDArray[np.str_]
    datasets: NDArray[np.str_]
    target: Target
    components: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        """Keep what can be examples where nobody can write; refuse the rest."""
        object.__setattr__(self, "features", _frozen(self.features, np.float64))
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "truth_flop", _frozen(self.truth_flop, np.float64))
        for name in ("workloads", "families", "datasets"):
            object.__setattr__(self, name, _frozen(getattr(self, name), np.str_))
        if self.components is not None:
            object.__setattr__(self, "components", _frozen(self.components, np.float64))
        _check_shapes(self)
        _check_values(self)

    def __len__(self) -> int:
        return len(self.truth_flop)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as plain arguments, so that a worker process checks and freezes them again."""
        return type(self), tuple(getattr(self, name) for name in self.__slots__)

    def take(self, indices: ArrayLike) -> Self:
        """Return the examples at these positions, in this order."""
        rows = np.asarray(indices, dtype=np.int64)
        return type(self)(
            features=self.features[rows],
            feature_names=self.feature_names,
            truth_flop=self.truth_flop[rows],
            workloads=self.workloads[rows],
            families=self.families[rows],
            datasets=self.datasets[rows],
            target=self.target,
            components=None if self.components is None else self.components[rows],
        )

    @property
    def n_workloads(self) -> int:
        """How many different workloads there are: the number of independent cases."""
        return len(np.unique(self.workloads))


def concatenated(parts: Sequence[Examples]) -> Examples:
    """Return one set of examples of several, in this order.

    Raises
    ------
    InvalidNounError
        When there is no part, columns differ, or targets differ: two targets are never compared.
    """
    if not parts:
        raise InvalidNounError("no examples to put together")
    first = parts[0]
    for part in parts[1:]:
        if part.feature_names != first.feature_names:
            raise InvalidNounError(f"feature columns differ: {first.feature_names} and {part.feature_names}")
        if part.target is not first.target:
            raise InvalidNounError(f"targets differ: {first.target} and {part.target}")
    return Examples(
        features=np.concatenate([part.features for part in parts]),
        feature_names=first.feature_names,
        truth_flop=np.concatenate([part.truth_flop for part in parts]),
        workloads=np.concatenate([part.workloads for part in parts]),
        families=np.concatenate([part.families for part in parts]),
        datasets=np.concatenate([part.datasets for part in parts]),
        target=first.target,
        components=_joined_components(parts),
    )


def _joined_components(parts: Sequence[Examples]) -> NDArray[np.float64] | None:
    """Return the components of all parts, NaN for a part that has none; None where no part has any."""
    widths = {part.components.shape[1] for part in parts if part.components is not None}
    if not widths:
        return None
    if len(widths) > 1:
        raise InvalidNounError(f"numbers of components differ: {sorted(widths)}")
    width = widths.pop()
    filled = [
        np.full((len(part), width), np.nan) if part.components is None else part.components for part in parts
    ]
    return np.concatenate(filled)


def _frozen(values: ArrayLike, dtype: type[np.generic]) -> NDArray[Any]:
    """Copy, so that no caller can write to what was checked."""
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def _check_shapes(examples: Examples) -> None:
    n_examples = examples.truth_flop.size
    expected = (n_examples, len(examples.feature_names))
    if examples.features.shape != expected:
        raise InvalidNounError(f"features have shape {examples.features.shape}, expected {expected}")
    for name in ("truth_flop", "workloads", "families", "datasets"):
        shape = getattr(examples, name).shape
        if shape != (n_examples,):
            raise InvalidNounError(f"{name} has shape {shape}, expected {(n_examples,)}")
    components = examples.components
    if components is not None and (components.ndim != 2 or len(components) != n_examples):
        raise InvalidNounError(f"components have shape {components.shape}, expected {n_examples} rows")


def _check_values(examples: Examples) -> None:
    names = examples.feature_names
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InvalidNounError(f"feature names occur twice: {twice}")
    bad = np.flatnonzero(~(np.isfinite(examples.truth_flop) & (examples.truth_flop > 0)))
    if len(bad):
        where = int(bad[0])
        got = examples.truth_flop[where]
        raise InvalidNounError(f"truth of example {where} must be positive and finite, got {got}")
    if (examples.workloads == "").any():
        raise InvalidNounError("an example has no workload: nothing says which others it belongs to")
