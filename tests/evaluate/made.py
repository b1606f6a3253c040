"""Small examples and fake estimators that the tests of this room share."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from flopwitness.core.workload import Target
from flopwitness.evaluate.examples import Examples


def examples_of(
    workloads: list[str],
    *,
    truth_flop: list[float] | None = None,
    families: list[str] | None = None,
    datasets: list[str] | None = None,
) -> Examples:
    """Return examples whose one feature is the truth, halved."""
    truth = np.array(truth_flop or [1e15 * (1 + number) for number in range(len(workloads))])
    return Examples(
        features=truth[:, None] / 2,
        feature_names=("energy_joules",),
        truth_flop=truth,
        workloads=np.array(workloads, dtype=np.str_),
        families=np.array(families or ["dense"] * len(workloads), dtype=np.str_),
        datasets=np.array(datasets or ["node-a"] * len(workloads), dtype=np.str_),
        target=Target.EXECUTED,
    )


def noisy_examples(n_workloads: int, n_traces: int, *, seed: int = 0) -> Examples:
    """Return traces of workloads of three families, whose feature follows the truth with scatter."""
    rng = np.random.default_rng(seed)
    names = [f"w{number:03d}" for number in range(n_workloads) for _ in range(n_traces)]
    families = [f"family-{number % 3}" for number in range(n_workloads) for _ in range(n_traces)]
    truth = np.repeat(rng.uniform(1e15, 5e15, n_workloads), n_traces)
    examples = examples_of(names, truth_flop=truth.tolist(), families=families)
    return replace(examples, features=examples.features * rng.lognormal(0, 0.2, (len(truth), 1)))


@st.composite
def drawn_examples(draw: st.DrawFn) -> Examples:
    """Draw examples of up to six workloads, three families and three captures, in any order."""
    labels = st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 2))
    rows = draw(st.lists(labels, min_size=1, max_size=20))
    return examples_of(
        [f"w{workload}" for workload, _, _ in rows],
        families=[f"f{family}" for _, family, _ in rows],
        datasets=[f"d{dataset}" for _, _, dataset in rows],
    )


@dataclass
class ShareEstimator:
    """Fake: the median ratio of truth to one feature; bounds are the extreme ratios it was fitted on."""

    column: int = 0
    coverage_ratio: float = 0.9

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the ratios."""
        ratios = np.asarray(y) / np.asarray(X)[:, self.column]
        self.ratios_ = np.array([ratios.min(), np.median(ratios), ratios.max()])
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return feature times median ratio."""
        return np.asarray(X)[:, self.column] * self.ratios_[1]

    def predict_interval(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return feature times extreme ratios."""
        return np.asarray(X)[:, [self.column]] * self.ratios_[[0, 2]]


class GroupedEstimator(ShareEstimator):
    """Fake that wants to know the workloads and remembers them."""

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Remember the groups, then learn."""
        self.groups_ = groups
        return super().fit(X, y)


class FailingEstimator(ShareEstimator):
    """Fake that gives no answer where the feature is above a limit, as an unanswered signal would."""

    limit: float = 1.25e15

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return NaN where the feature is above the limit."""
        column = np.asarray(X)[:, self.column]
        return np.where(column > self.limit, np.nan, super().predict(X))

    def predict_interval(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return no upper bound anywhere."""
        return np.column_stack([np.zeros(len(np.asarray(X))), np.full(len(np.asarray(X)), np.inf)])


class SilentEstimator(FailingEstimator):
    """Fake that never answers."""

    limit = -np.inf
