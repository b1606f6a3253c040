"""From datasets to the examples that estimators are fitted and scored on."""

from collections.abc import Iterable

import numpy as np

from flopwitness.app.truth import run_components
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session, cut_session
from flopwitness.core.workload import Run, Target
from flopwitness.detect.settle import settled_stop_ns
from flopwitness.estimate.features.idle import idle_baseline
from flopwitness.estimate.features.row import FEATURE_NAMES, SessionFeatures, session_features
from flopwitness.evaluate.examples import Examples, concatenated


def idle_watts_of(recording: Recording) -> dict[str, float]:
    """Measure the idle power of each device, in watts; NaN where it was never seen idle."""
    return {trace.device.uuid: idle_baseline(trace).watts for trace in recording.traces}


def logged_session(recording: Recording, run: Run) -> Session:
    """Cut the session of a logged run, its end settled on where the sensors saw it end."""
    stop_ns = settled_stop_ns(recording.traces, run.start_ns, run.stop_ns)
    return cut_session(recording.traces, run.start_ns, stop_ns, name=run.config.name)


def run_features(dataset: Dataset) -> tuple[SessionFeatures, ...]:
    """Return the features of every run, in the order of the runs."""
    idle_watts = idle_watts_of(dataset.recording)
    return tuple(session_features(logged_session(dataset.recording, run), idle_watts) for run in dataset.runs)


def examples_of(datasets: Iterable[Dataset], target: Target) -> Examples:
    """Return the runs of datasets whose truth for a target is known.

    Raises
    ------
    BadInputError
        When no run has such a truth.
    """
    parts = [part for dataset in datasets if (part := _dataset_examples(dataset, target)) is not None]
    if not parts:
        raise BadInputError("datasets", "", expected=f"at least one run of known {target} FLOP", got="none")
    return concatenated(parts)


def _dataset_examples(dataset: Dataset, target: Target) -> Examples | None:
    pairs = [
        (run, features, flop)
        for run, features in zip(dataset.runs, run_features(dataset), strict=True)
        if (flop := run.truth.flop(target)) is not None
    ]
    if not pairs:
        return None
    runs = [run for run, _, _ in pairs]
    return Examples(
        features=np.array([features.row() for _, features, _ in pairs]),
        feature_names=FEATURE_NAMES,
        truth_flop=np.array([flop for _, _, flop in pairs]),
        workloads=np.array([run.config.name for run in runs]),
        families=np.array([run.config.family for run in runs]),
        datasets=np.array([dataset.recording.name for _ in runs]),
        target=target,
        components=np.array([run_components(run) for run in runs]),
    )
