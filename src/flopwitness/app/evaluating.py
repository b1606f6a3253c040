"""Run a protocol: make its splits, score them in parallel, show how far it is."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from joblib import Parallel, delayed

from flopwitness.estimate.methods import METHODS
from flopwitness.estimate.regressors.factories import columns_factory
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.learning_curve import LearningCurve, growing_splits
from flopwitness.evaluate.protocols import EstimatorFactory, Protocol, SplitScores, score_split
from flopwitness.evaluate.splits import (
    Split,
    folds,
    frozen,
    leave_dataset_out,
    leave_family_out,
    random_splits,
)

N_JOBS = 2
"""Processes at once; each split is fitted on one core."""

INTERVAL_FOLDS = 8
"""Folds that calibrate intervals where there are few splits; 200 random splits go without."""

Watch = Callable[[Iterable[SplitScores], int], Iterable[SplitScores]]
"""Passes results on while it shows how many of how many there are."""


def splits_of(
    protocol: Protocol, examples: Examples, *, n_splits: int = 200, seed: int = 0
) -> tuple[Split, ...]:
    """Return the splits of a protocol that holds out parts of one set of examples."""
    rng = np.random.default_rng(seed)
    if protocol is Protocol.RANDOM:
        return random_splits(examples, n_splits=n_splits, rng=rng)
    if protocol is Protocol.FOLDS:
        return folds(examples, rng=rng)
    if protocol is Protocol.DATASET:
        return leave_dataset_out(examples)
    return leave_family_out(examples)


def evaluated(
    protocol: Protocol,
    examples: Examples,
    splits: Sequence[Split],
    *,
    watch: Watch,
    methods: Iterable[str] = METHODS,
) -> Evaluation:
    """Score every split; results come in the order of the splits, however many cores there are."""
    n_folds = 0 if protocol in (Protocol.RANDOM, Protocol.FOLDS) else INTERVAL_FOLDS
    factories = factories_of(methods, examples, n_folds=n_folds)
    return Evaluation(protocol, examples, scored_splits(factories, examples, splits, watch=watch))


def evaluated_frozen(
    calibration: Examples, test: Examples, *, watch: Watch, methods: Iterable[str] = METHODS
) -> Evaluation:
    """Fit on some captures, score others; workloads that both hold stay in, for the captures differ."""
    examples, split = frozen(calibration, test, keep_shared_workloads=True)
    return evaluated(Protocol.FROZEN, examples, [split], watch=watch, methods=methods)


def learning_curve(
    examples: Examples, *, n_draws: int, seed: int, watch: Watch, methods: Iterable[str] = METHODS
) -> LearningCurve:
    """Fit on growing sets of workloads, many times; no intervals are calibrated."""
    by_size = growing_splits(examples, n_draws=n_draws, rng=np.random.default_rng(seed))
    factories = factories_of(methods, examples, n_folds=0)
    splits = [split for drawn in by_size.values() for split in drawn]
    scores = scored_splits(factories, examples, splits, watch=watch)
    parts = [scores[start : start + n_draws] for start in range(0, len(scores), n_draws)]
    return LearningCurve(
        {size: Evaluation(Protocol.RANDOM, examples, part) for size, part in zip(by_size, parts, strict=True)}
    )


def scored_splits(
    factories: Mapping[str, EstimatorFactory], examples: Examples, splits: Sequence[Split], *, watch: Watch
) -> tuple[SplitScores, ...]:
    """Score splits on as many cores as there may be, in their order."""
    if len(splits) == 1:
        scored: Iterable[SplitScores] = (score_split(factories, examples, split) for split in splits)
    else:
        parallel = Parallel(n_jobs=N_JOBS, return_as="generator")
        scored = parallel(delayed(score_split)(factories, examples, split) for split in splits)
    return tuple(watch(scored, len(splits)))


def factories_of(methods: Iterable[str], examples: Examples, *, n_folds: int) -> dict[str, EstimatorFactory]:
    """Return what makes each estimator for these examples' columns and target."""
    return {
        name: columns_factory(
            name,
            examples.target,
            tuple(examples.feature_names.index(column) for column in METHODS[name].columns),
            n_folds,
        )
        for name in methods
    }
