"""From datasets of attack runs to scored contests: features once, estimates by calibrations frozen before."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isinf
from pathlib import Path

from flopwitness.app.examples import idle_watts_of, logged_session
from flopwitness.app.labwork import OTHER_RUNS
from flopwitness.app.opening import open_dataset
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.estimate import Estimate
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Run, Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.estimating import Estimated, estimated_all
from flopwitness.estimate.features.row import SessionFeatures, session_features
from flopwitness.estimate.methods import METHODS
from flopwitness.lab.journal import WARMUP
from flopwitness.redteam.attack import Attack
from flopwitness.redteam.attacks.twins import TWIN
from flopwitness.redteam.cost import Spending
from flopwitness.redteam.scoring import Answer, Contest, Trial, benign_bands, effects_of
from flopwitness.redteam.summary import Scoring
from flopwitness.storage.datasets import read_dataset_runs

BENIGN = ""
"""What calibrations are asked for where no attack is meant: the one that saw none."""

FORMAT_UNKNOWN = "format-not-identified"
"""Code of the finding that says so."""

CalibrationWithout = Callable[[str], Calibration]
"""Gives the calibration that an attack is judged by: fitted without that attack, or before any was seen."""


@dataclass(frozen=True, slots=True)
class Material:
    """One run as calibrations are asked about it.

    Attributes
    ----------
    run : Run
        What was logged.
    features : SessionFeatures
        What was seen.
    gpus : tuple of str
        UUIDs of the boards.
    spending : Spending
        What it took.
    """

    run: Run
    features: SessionFeatures
    gpus: tuple[str, ...]
    spending: Spending


def open_attacked(path: Path, *, chip: str) -> Dataset:
    """Open a dataset with the runs that the gate on utilisation set aside: throttling lowers just that.

    Raises
    ------
    BadInputError
        As ``open_dataset``.
    """
    dataset = open_dataset(path, chip=chip)
    others = path / OTHER_RUNS
    if not others.exists():
        return dataset
    set_aside = [run for run in read_dataset_runs(others)[0] if run.config.family != WARMUP]
    runs = sorted([*dataset.runs, *set_aside], key=lambda run: run.start_ns)
    return replace(dataset, runs=tuple(runs))


def materials_of(dataset: Dataset) -> tuple[Material, ...]:
    """Return every run of a dataset with its features and what it took."""
    idle_watts = idle_watts_of(dataset.recording)
    idle_total_watts = sum(idle_watts.values())
    gpus = tuple(sorted(trace.device.uuid for trace in dataset.recording.traces))
    found = []
    for run in dataset.runs:
        features = session_features(logged_session(dataset.recording, run), idle_watts)
        found.append(Material(run, features, gpus, _spending(run, features, idle_total_watts)))
    return tuple(found)


def scored_attacks(
    materials: Sequence[Material],
    attacks: Mapping[str, Attack],
    *,
    benign: Sequence[Material] = (),
    calibration_without: CalibrationWithout,
    target: Target,
) -> Scoring:
    """Score every attack of which there is a run.

    Parameters
    ----------
    materials : sequence of Material
        Attack runs and their twins; other runs are left out, and that is said.
    attacks : mapping of str to Attack
        The catalogue.
    benign : sequence of Material
        Runs that make the benign band; the twins where there are none.
    calibration_without : callable
        Asked with the name of each attack, and with ``BENIGN`` for the band.
    target : Target
        Which FLOP to count.

    Raises
    ------
    BadInputError
        When there is no run of a known attack with a known truth.
    CalibrationMismatchError
        When a calibration is for another chip or was not fitted for the target.
    """
    known = [one for one in materials if one.run.truth.flop(target) is not None]
    twins = [one for one in known if one.run.config.family == TWIN]
    present = tuple(attack for attack in attacks.values() if any(is_of(attack, one.run) for one in known))
    if not present:
        raise BadInputError("datasets", "", expected=f"runs of attacks with {target} FLOP known", got="none")
    contests = tuple(
        _contest(attack, known, twins, calibration=calibration_without(attack.name), target=target)
        for attack in present
    )
    base = calibration_without(BENIGN)
    methods = tuple(name for name in METHODS if name in base.for_target(target))
    calm = [one for one in benign if one.run.truth.flop(target) is not None] or twins
    calm_trials = trials_of(calm, base, target)
    return Scoring(
        target=target,
        methods=methods,
        attacks=present,
        effects=tuple(effect for contest in contests for effect in effects_of(contest, methods)),
        bands=benign_bands(calm_trials, methods),
        n_benign=len(calm_trials),
        left_out=_left_out(materials, attacks, target),
    )


def trials_of(
    materials: Sequence[Material], calibration: Calibration, target: Target, *, attack: str = BENIGN
) -> tuple[Trial, ...]:
    """Ask a calibration about runs of known truth; strengths are what their names add to the attack's."""
    answers = estimated_all([one.features for one in materials], calibration, target)
    return tuple(_trial(one, answer, target, attack) for one, answer in zip(materials, answers, strict=True))


def is_of(attack: Attack, run: Run) -> bool:
    """Say whether a run is a setting of an attack; families of benign runs may be called as attacks are."""
    names = {attack.name_of(strength) for strength in attack.strengths}
    return run.config.family == attack.name and run.config.name in names


def strength_label(config_name: str, attack: str) -> str:
    """Return the strength that a configuration's name carries; empty for a twin.

    Examples
    --------
    >>> strength_label("split-3x6s", "split"), strength_label("twin-2048", "")
    ('3x6s', '')
    """
    return config_name.removeprefix(f"{attack}-") if attack else ""


def _spending(run: Run, features: SessionFeatures, idle_total_watts: float) -> Spending:
    """Return GPU time, energy and work; net energy and idle power are put together again."""
    n_gpus = (run.config.integers("n_gpus") or (features.n_devices,))[0]
    seconds = (run.stop_ns - run.start_ns) / NANOSECONDS_PER_SECOND
    joules = features.values["net_energy_joules"] + idle_total_watts * features.values["duration_seconds"]
    executed = run.truth.executed_flop
    return Spending(
        seconds * n_gpus,
        joules if joules > 0 else float("nan"),
        float("nan") if executed is None else executed,
    )


def _contest(
    attack: Attack,
    known: Sequence[Material],
    twins: Sequence[Material],
    *,
    calibration: Calibration,
    target: Target,
) -> Contest:
    order = {attack.name_of(strength): place for place, strength in enumerate(attack.strengths)}
    own = [one for one in known if is_of(attack, one.run)]
    own.sort(key=lambda one: (order[one.run.config.name], one.run.start_ns))
    beside = [one for one in twins if one.run.config.name == attack.twin.name]
    return Contest(
        attack.name,
        trials_of(own, calibration, target, attack=attack.name),
        trials_of(beside, calibration, target),
    )


def _trial(material: Material, answer: Estimated, target: Target, attack: str) -> Trial:
    run, truth_flop = material.run, material.run.truth.flop(target)
    if truth_flop is None:
        raise BadInputError(run.config.name, "truth", expected=f"{target} FLOP", got="none")
    return Trial(
        configuration=run.config.name,
        strength=strength_label(run.config.name, attack),
        gpus=material.gpus,
        truth_flop=truth_flop,
        answers={name: Answer(one.point_flop, _bound_flop(one)) for name, one in answer.estimates.items()},
        spending=material.spending,
        is_format_identified=all(finding.code != FORMAT_UNKNOWN for finding in answer.findings),
    )


def _bound_flop(estimate: Estimate) -> float:
    """Return the bound for hostile workloads, or the upper end of the interval of a method that has none."""
    return estimate.high_flop if isinf(estimate.most_flop) else estimate.most_flop


def _left_out(
    materials: Iterable[Material], attacks: Mapping[str, Attack], target: Target
) -> tuple[str, ...]:
    """Say how many runs were not scored, and why."""
    reasons: Counter[str] = Counter()
    for one in materials:
        family = one.run.config.family
        if family != TWIN and not (family in attacks and is_of(attacks[family], one.run)):
            reasons[f"of family {family}: no setting of the catalogue"] += 1
        elif one.run.truth.flop(target) is None:
            reasons[f"of {one.run.config.name}: {target} FLOP not known"] += 1
    return tuple(f"{number} runs {why}" for why, number in reasons.items())
