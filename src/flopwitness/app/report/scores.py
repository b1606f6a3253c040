"""Evaluations summed up once, for every table and figure that shows them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flopwitness.app.report.content import Evaluations
from flopwitness.core.workload import Target
from flopwitness.evaluate.bootstrap import BootstrapInterval, cluster_draws, median_statistic
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.metrics import Coverage, ErrorSummary
from flopwitness.evaluate.protocols import Protocol

IN_DISTRIBUTION = (
    Protocol.RANDOM,
    Protocol.FOLDS,
    Protocol.ONE_TRACE,
    Protocol.FAMILY,
    Protocol.DATASET,
    Protocol.FROZEN,
)
"""Which evaluation a figure of dots shows, the published experiment's choice first."""

EQUAL_FOLDS = (Protocol.FOLDS, *(protocol for protocol in IN_DISTRIBUTION if protocol is not Protocol.FOLDS))
"""Which evaluation the bars show: the experiment compared its five estimators on equal folds."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one estimator came to under one protocol.

    Attributes
    ----------
    errors : ErrorSummary
        Of all held-out scores.
    median_interval : BootstrapInterval
        Range of the median absolute error over resampled workloads.
    coverage : Coverage
        How often its bounds held the truth.
    nominal_coverage_ratio : float or None
        What the bounds were made for; None where they were not calibrated.
    """

    errors: ErrorSummary
    median_interval: BootstrapInterval
    coverage: Coverage
    nominal_coverage_ratio: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One evaluation with the score of each of its estimators, in their order."""

    evaluation: Evaluation
    scores: Mapping[str, Score]

    @property
    def protocol(self) -> Protocol:
        """How the splits were made."""
        return self.evaluation.protocol

    @property
    def target(self) -> Target:
        """Which FLOP are counted."""
        return self.evaluation.examples.target

    @property
    def best(self) -> str:
        """Name of the estimator with the smallest median error."""
        return min(self.scores, key=lambda name: self.scores[name].errors.median_abs_error_ratio)


def scored(evaluations: Evaluations, *, rng: np.random.Generator) -> tuple[Scored, ...]:
    """Sum up every evaluation that has an estimator; its estimators are resampled with the same draws."""
    ordered = sorted(evaluations.values(), key=_rank)
    return tuple(_scored(evaluation, rng) for evaluation in ordered if evaluation.estimators)


def chosen(results: tuple[Scored, ...], target: Target, order: tuple[Protocol, ...]) -> Scored | None:
    """Return the first evaluation of a target in an order of protocols, or None where there is none."""
    offered = {result.protocol: result for result in results if result.target is target}
    return next((offered[protocol] for protocol in order if protocol in offered), None)


def _rank(evaluation: Evaluation) -> tuple[int, int]:
    return list(Target).index(evaluation.examples.target), list(Protocol).index(evaluation.protocol)


def _scored(evaluation: Evaluation, rng: np.random.Generator) -> Scored:
    n_workloads = len(np.unique(evaluation.examples.workloads[evaluation.held_out]))
    draws = cluster_draws(n_workloads, rng=rng)
    return Scored(
        evaluation,
        {
            name: Score(
                errors=evaluation.errors(name).summary(),
                median_interval=evaluation.interval(name, statistic=median_statistic, draws=draws),
                coverage=evaluation.coverage(name),
                nominal_coverage_ratio=evaluation.nominal_coverage_ratio(name),
            )
            for name in evaluation.estimators
        },
    )
