"""What attacks come to, by family and over all: errors, the worst by name, and how often bounds hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.workload import Target
from flopwitness.evaluate.bootstrap import (
    BootstrapInterval,
    bootstrap_interval,
    cluster_draws,
    median_statistic,
    p90_statistic,
)
from flopwitness.evaluate.metrics import wilson_interval
from flopwitness.evaluate.quantiles import quantile
from flopwitness.redteam.attack import Attack
from flopwitness.redteam.scoring import Effect

ALL_ATTACKS = "all attacks"
"""Name of the row over every family; never shown without the families."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Every attack of some datasets, scored by calibrations that were frozen before.

    Attributes
    ----------
    target : Target
        Which FLOP were counted.
    methods : tuple of str
        Estimators, the experiment's first.
    attacks : tuple of Attack
        Those with a run, in the order of the catalogue.
    effects : tuple of Effect
        By attack, strength and method.
    bands : mapping of str to tuple of float
        Benign signed errors of each method, 5th to 95th percentile; empty where no run was benign.
    n_benign : int
        How many runs the bands are of.
    left_out : tuple of str
        A sentence for each sort of run that was not scored.
    """

    target: Target
    methods: tuple[str, ...]
    attacks: tuple[Attack, ...]
    effects: tuple[Effect, ...]
    bands: Mapping[str, tuple[float, float]]
    n_benign: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What an attack, or all of them, do to one method; one score a configuration.

    Attributes
    ----------
    attack, method : str
        What was done to whom; the attack may be ``ALL_ATTACKS``.
    n_configurations, n_runs : int, > 0
        How many settings, of how many runs.
    median_abs_error_ratio, p90_abs_error_ratio : float, >= 0
        Of the absolute errors of configurations.
    median_interval, p90_interval : BootstrapInterval
        Of these two when configurations are resampled; infinite with one.
    median_signed_error_ratio : float
        The bias.
    worst : Effect
        The configuration with the most negative signed error.
    high_holds_ratio : float in [0, 1]
        Share of runs whose high bound is at or above the truth.
    high_holds_interval : tuple of float
        Wilson interval of that share at 95 %, a trial a configuration: its traces hold or fail together.
    identified_width_ratio, other_width_ratio : float or None
        Median of high over point where the format was identified and where it was not; None without any.
    """

    attack: str
    method: str
    n_configurations: int
    n_runs: int
    median_abs_error_ratio: float
    p90_abs_error_ratio: float
    median_interval: BootstrapInterval
    p90_interval: BootstrapInterval
    median_signed_error_ratio: float
    worst: Effect
    high_holds_ratio: float
    high_holds_interval: tuple[float, float]
    identified_width_ratio: float | None
    other_width_ratio: float | None


def summaries_of(effects: Sequence[Effect], *, rng: np.random.Generator) -> tuple[Summary, ...]:
    """Return a summary for each method of each attack, then of all attacks together.

    Parameters
    ----------
    effects : sequence of Effect
        In the order that the summaries are to have.
    rng : numpy.random.Generator
        For the bootstrap.
    """
    groups: dict[tuple[str, str], list[Effect]] = {}
    for effect in effects:
        groups.setdefault((effect.attack, effect.method), []).append(effect)
    if len({attack for attack, _ in groups}) > 1:
        for effect in effects:
            groups.setdefault((ALL_ATTACKS, effect.method), []).append(effect)
    return tuple(_summary(attack, members, rng) for (attack, _), members in groups.items())


def _summary(attack: str, effects: Sequence[Effect], rng: np.random.Generator) -> Summary:
    signed = np.array([effect.signed_error_ratio for effect in effects])
    names = np.array([effect.configuration for effect in effects])
    draws = cluster_draws(len(effects), rng=rng)
    n_runs = sum(effect.n_traces for effect in effects)
    holds_ratio = sum(effect.n_high_holds for effect in effects) / n_runs
    absolute = np.abs(signed)
    return Summary(
        attack=attack,
        method=effects[0].method,
        n_configurations=len(effects),
        n_runs=n_runs,
        median_abs_error_ratio=quantile(absolute, 0.5),
        p90_abs_error_ratio=quantile(absolute, 0.9),
        median_interval=bootstrap_interval(absolute, names, statistic=median_statistic, draws=draws),
        p90_interval=bootstrap_interval(absolute, names, statistic=p90_statistic, draws=draws),
        median_signed_error_ratio=quantile(signed, 0.5),
        worst=min(effects, key=lambda effect: effect.signed_error_ratio),
        high_holds_ratio=holds_ratio,
        high_holds_interval=wilson_interval(holds_ratio, len(effects)),
        identified_width_ratio=_median_width(effects, is_identified=True),
        other_width_ratio=_median_width(effects, is_identified=False),
    )


def _median_width(effects: Sequence[Effect], *, is_identified: bool) -> float | None:
    widths: NDArray[np.float64] = np.array(
        [effect.width_ratio for effect in effects if effect.is_format_identified is is_identified]
    )
    return quantile(widths, 0.5) if len(widths) else None
