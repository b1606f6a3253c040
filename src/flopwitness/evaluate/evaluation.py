"""Many scored splits put together: pooled figures, figures a workload, a family, and how sure they are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.evaluate.bootstrap import BootstrapInterval, Statistic, bootstrap_interval
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.metrics import (
    Coverage,
    ErrorSummary,
    interval_coverage,
    signed_error_ratio,
    summarised,
)
from flopwitness.evaluate.protocols import Protocol, SplitScores
from flopwitness.evaluate.quantiles import grouped_median


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Signed relative errors of one estimator with the groups that they belong to.

    Attributes
    ----------
    signed_error_ratio : ndarray of shape (n,)
        Estimate / truth - 1; plus infinity where there was no estimate.
    workloads, families : ndarray of shape (n,), str
        Whose errors they are.
    """

    signed_error_ratio: NDArray[np.float64]
    workloads: NDArray[np.str_]
    families: NDArray[np.str_]

    def summary(self) -> ErrorSummary:
        """Sum up all of them."""
        return summarised(self.signed_error_ratio)

    def by_family(self) -> dict[str, ErrorSummary]:
        """Sum up each family, in order of names."""
        return {
            str(family): summarised(self.signed_error_ratio[self.families == family])
            for family in np.unique(self.families)
        }

    def worst_workloads(self) -> tuple[str | None, str | None]:
        """Return whose estimate was furthest under and furthest over the truth; None where none was."""
        lowest, highest = int(self.signed_error_ratio.argmin()), int(self.signed_error_ratio.argmax())
        under = str(self.workloads[lowest]) if self.signed_error_ratio[lowest] < 0 else None
        over = str(self.workloads[highest]) if self.signed_error_ratio[highest] > 0 else None
        return under, over


@dataclass(frozen=True, slots=True, eq=False)
class WorkloadMedians:
    """The middle estimate of each workload over all splits that held it out: the dots of a figure.

    Attributes
    ----------
    workloads, families : ndarray of shape (n_workloads,), str
        In order of workload names.
    truth_flop : ndarray of shape (n_workloads,)
        Median truth of its traces.
    point_flop : ndarray of shape (n_workloads,)
        Truth times the median ratio of estimate to truth: the median estimate, where the traces of the
        workload share one truth.
    n_scores : ndarray of shape (n_workloads,), int64
        How many scores each median is of.
    """

    workloads: NDArray[np.str_]
    families: NDArray[np.str_]
    truth_flop: NDArray[np.float64]
    point_flop: NDArray[np.float64]
    n_scores: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What a protocol said of some estimators.

    Attributes
    ----------
    protocol : Protocol
        How the splits were made; says whether a score is of a trace or of a workload.
    examples : Examples
        What the splits index.
    scores : tuple of SplitScores
        One a split, at least one, all of the same estimators.

    Raises
    ------
    InvalidNounError
        When there is no split, or estimators differ between splits.
    """

    protocol: Protocol
    examples: Examples
    scores: tuple[SplitScores, ...]

    def __post_init__(self) -> None:
        """Refuse what cannot be pooled."""
        object.__setattr__(self, "scores", tuple(self.scores))
        if not self.scores:
            raise InvalidNounError("an evaluation needs at least one split")
        expected = set(self.scores[0].predictions)
        for score in self.scores:
            if set(score.predictions) != expected:
                got = sorted(score.predictions)
                raise InvalidNounError(
                    f"split {score.split.name!r} has estimators {got}, not {sorted(expected)}"
                )

    @property
    def estimators(self) -> tuple[str, ...]:
        """Names of the estimators, in the order that they were given in."""
        return tuple(self.scores[0].predictions)

    @property
    def held_out(self) -> NDArray[np.int64]:
        """Position of the example of each score, splits one after the other, shape (n_scores,)."""
        return np.concatenate([score.split.test for score in self.scores])

    def point_flop(self, estimator: str) -> NDArray[np.float64]:
        """Return the points of one estimator, shape (n_scores,), aligned with ``held_out``."""
        return np.concatenate([score.predictions[estimator].point_flop for score in self.scores])

    def bounds_flop(self, estimator: str) -> NDArray[np.float64]:
        """Return low and high of one estimator, shape (n_scores, 2), aligned with ``held_out``."""
        return np.concatenate([score.predictions[estimator].bounds_flop for score in self.scores])

    def nominal_coverage_ratio(self, estimator: str) -> float | None:
        """Return the coverage that the intervals were made for; None unless all splits agree on one."""
        nominal = {score.predictions[estimator].nominal_coverage_ratio for score in self.scores}
        return nominal.pop() if len(nominal) == 1 else None

    def errors(self, estimator: str) -> Errors:
        """Return the held-out errors of one estimator: of each trace, or of each workload in each split.

        Under a protocol that scores workloads, an error is that of the median over the traces of one
        workload in one split.
        """
        rows = self.held_out
        signed = self._signed(estimator)
        if self.protocol.scores_workloads:
            names, workload_of = np.unique(self.examples.workloads[rows], return_inverse=True)
            split_of = np.repeat(
                np.arange(len(self.scores)), [len(score.split.test) for score in self.scores]
            )
            groups = split_of * len(names) + workload_of
            _, first = np.unique(groups, return_index=True)
            rows, signed = rows[first], grouped_median(signed, groups)
        return Errors(signed, self.examples.workloads[rows], self.examples.families[rows])

    def workload_medians(self, estimator: str) -> WorkloadMedians:
        """Return the middle estimate of each workload over everything that held it out."""
        rows = self.held_out
        names, first, workload_of, counts = np.unique(
            self.examples.workloads[rows], return_index=True, return_inverse=True, return_counts=True
        )
        truth = grouped_median(self.examples.truth_flop[rows], workload_of)
        ratio = 1.0 + grouped_median(self._signed(estimator), workload_of)
        return WorkloadMedians(names, self.examples.families[rows[first]], truth, truth * ratio, counts)

    def interval(
        self, estimator: str, *, statistic: Statistic, draws: NDArray[np.int64]
    ) -> BootstrapInterval:
        """Return how far a statistic of the absolute errors moves over resampled workloads."""
        errors = self.errors(estimator)
        absolute = np.abs(errors.signed_error_ratio)
        return bootstrap_interval(absolute, errors.workloads, statistic=statistic, draws=draws)

    def coverage(self, estimator: str) -> Coverage:
        """Compare every held-out interval with its truth, a trace at a time under any protocol."""
        return self._coverage(estimator, np.ones(len(self.held_out), dtype=np.bool_))

    def coverage_by_family(self, estimator: str) -> dict[str, Coverage]:
        """Compare the intervals of each family with their truth, in order of names."""
        families = self.examples.families[self.held_out]
        return {str(family): self._coverage(estimator, families == family) for family in np.unique(families)}

    def _signed(self, estimator: str) -> NDArray[np.float64]:
        return signed_error_ratio(self.point_flop(estimator), self.examples.truth_flop[self.held_out])

    def _coverage(self, estimator: str, chosen: NDArray[np.bool_]) -> Coverage:
        rows = self.held_out[chosen]
        return interval_coverage(
            self.examples.truth_flop[rows],
            self.point_flop(estimator)[chosen],
            bounds_flop=self.bounds_flop(estimator)[chosen],
            workloads=self.examples.workloads[rows],
        )
