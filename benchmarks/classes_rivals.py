"""Rivals of the classifier of work: utilisation alone, and a plain random forest on summary statistics."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from flopwitness.app.examples import logged_session
from flopwitness.core.workclass import KNOWN_CLASSES, ClassOpinion, WorkClass
from flopwitness.evaluate.classification import Answered

SIGNALS = (
    *("gpu_util_ratio", "mem_util_ratio", "power_watts", "sm_clock_hertz", "memory_used_bytes"),
    *("tensor_active_ratio", "dram_active_ratio", "sm_active_ratio", "sm_occupancy_ratio"),
    *("int_active_ratio", "fp32_active_ratio", "fp16_active_ratio", "fp64_active_ratio"),
    *("pcie_tx_bytes_per_second", "pcie_rx_bytes_per_second"),
)
"""All that the recordings share; traffic between GPUs is not among them, for either classifier."""

CACHE: dict[int, NDArray[np.float64]] = {}


def forest_opinions(rest: Sequence[Any], asked: Sequence[Any]) -> list[Answered]:
    """Ask a forest about mean, spread, least and most of every signal, one row a run."""
    forest = RandomForestClassifier(400, class_weight="balanced", n_jobs=2, random_state=0)
    return _asked(forest, rest, asked, of=slice(None))


def utilisation_opinions(rest: Sequence[Any], asked: Sequence[Any]) -> list[Answered]:
    """Ask what utilisation alone says."""
    return _asked(LogisticRegression(class_weight="balanced"), rest, asked, of=slice(0, 1))


def _asked(model: Any, rest: Sequence[Any], asked: Sequence[Any], *, of: slice) -> list[Answered]:
    known, unknown = (np.stack([_summary(one)[of] for one in runs]) for runs in (rest, asked))
    model.fit(known, [one.label.value for one in rest])
    order: list[WorkClass] = [WorkClass(name) for name in model.classes_]
    return [
        Answered(one.label, _opinion(row, order), one.family, one.run.config.name, one.dataset)
        for one, row in zip(asked, model.predict_proba(unknown), strict=True)
    ]


def _opinion(row: NDArray[np.float64], order: list[WorkClass]) -> ClassOpinion:
    by_class = dict.fromkeys(KNOWN_CLASSES, 0.0) | dict(zip(order, row.tolist(), strict=True))
    return ClassOpinion(max(by_class, key=lambda one: by_class[one]), by_class, ("a rival",))


def _summary(one: Any) -> NDArray[np.float64]:
    key = id(one)
    if key not in CACHE:
        CACHE[key] = np.array(_statistics(one), dtype=np.float64)
    return CACHE[key]


def _statistics(one: Any) -> list[float]:
    session = logged_session(one.session_samples.recording, one.run)
    numbers: list[float] = []
    statistics: tuple[Callable[[Any], Any], ...] = (np.mean, np.std, np.min, np.max)
    for name in SIGNALS:
        columns = [trace[name] for trace in session.traces if name in trace]
        seen = np.concatenate(columns) if columns else np.empty(0)
        seen = seen[np.isfinite(seen)]
        numbers += [float(take(seen)) if len(seen) else -1.0 for take in statistics]
    return numbers
