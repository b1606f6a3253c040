"""From a session's features and a calibration to estimates with bounds."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration, Fitted
from flopwitness.estimate.conformal import UNBOUNDED, LogInterval, bounds_flop
from flopwitness.estimate.features.row import SessionFeatures
from flopwitness.estimate.methods import METHODS, Method, Witness
from flopwitness.estimate.predictors.fused import FusedState


class Estimated(NamedTuple):
    """Estimates by name of the method, and what stood in the way of the others."""

    estimates: Mapping[str, Estimate]
    findings: tuple[Finding, ...]


def estimated(features: SessionFeatures, calibration: Calibration, target: Target) -> Estimated:
    """Estimate one session by every method of a calibration; see ``estimated_all``."""
    return estimated_all([features], calibration, target)[0]


def estimated_all(
    sessions: Sequence[SessionFeatures], calibration: Calibration, target: Target
) -> tuple[Estimated, ...]:
    """Estimate sessions by every method of a calibration.

    Bounds are those of the calibration, opened for what nobody observed: at the low end as if the devices
    had been idle there, at the high end as if they had run at the chip's ceiling. All sessions are asked
    about at once, which is the same as one by one and much faster.

    Raises
    ------
    CalibrationMismatchError
        When the calibration is for another chip, or holds nothing for this target.
    """
    for features in sessions:
        calibration.require_chips(features.chips)
    estimates: list[dict[str, Estimate]] = [{} for _ in sessions]
    findings: list[list[Finding]] = [[] for _ in sessions]
    for name in calibration.for_target(target):
        method = METHODS[name]
        askable = []
        for number, features in enumerate(sessions):
            missing = [column for column in method.required if not np.isfinite(features.values[column])]
            if missing:
                findings[number].append(_unavailable(name, missing))
            else:
                askable.append(number)
        answers = _estimates([sessions[number] for number in askable], method, calibration, target)
        for number, estimate in zip(askable, answers, strict=True):
            estimates[number][name] = estimate
    pairs = zip(estimates, findings, strict=True)
    return tuple(Estimated(by_name, tuple(notes)) for by_name, notes in pairs)


def _unavailable(name: str, missing: Sequence[str]) -> Finding:
    return Finding(
        "method-unavailable",
        f"{name} gives no estimate: {', '.join(missing)} is not known from the signals present",
        Severity.NOTE,
        subject=name,
    )


def _estimates(
    sessions: Sequence[SessionFeatures], method: Method, calibration: Calibration, target: Target
) -> list[Estimate]:
    if not sessions:
        return []
    fitted = calibration.fitted[target]
    rows = np.array([[features.values[column] for column in method.columns] for features in sessions])
    points = _points(fitted[method.name], rows)
    intervals = _intervals(rows, method, fitted)
    if method.witness is Witness.ACTIVITY:
        seen = np.array([_as_if_idle(row, method, one) for row, one in zip(rows, sessions, strict=True)])
        observed = _points(fitted[method.name], seen)
        ends = [_activity_ends(*each) for each in zip(observed.tolist(), sessions, intervals, strict=True)]
    else:
        ends = [_power_ends(*each) for each in zip(points.tolist(), sessions, intervals, strict=True)]
    return [
        Estimate(
            point_flop=point,
            low_flop=min(low, point),
            high_flop=max(high, point),
            coverage_ratio=calibration.coverage_ratio,
            method=method.name,
            target=target,
            signals=method.columns,
        )
        for point, (low, high) in zip(points.tolist(), ends, strict=True)
    ]


def _points(fitted: Fitted, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(fitted.state.predict(rows), 0.0)


def _activity_ends(
    observed_flop: float, features: SessionFeatures, interval: LogInterval
) -> tuple[float, float]:
    low, high = bounds_flop([observed_flop], interval)[0].tolist()
    return low, high + _unobserved_flop(features, interval)


def _power_ends(point_flop: float, features: SessionFeatures, interval: LogInterval) -> tuple[float, float]:
    if features.values["power_unobserved_seconds"] > 0:
        return 0.0, float("inf")
    low, high = bounds_flop([point_flop], interval)[0].tolist()
    return low, high


def _unobserved_flop(features: SessionFeatures, interval: LogInterval) -> float:
    """Return what the unobserved time adds to the upper end.

    The ceiling, stretched as the rest of the upper end is: a step seen at full rate and a step that nobody
    saw then count alike, so that hiding a step never lowers the end.
    """
    ceiling = features.values["unobserved_ceiling_flop"]
    return float(ceiling * np.exp(max(interval.high, 0.0))) if ceiling > 0 else 0.0


def _as_if_idle(row: NDArray[np.float64], method: Method, features: SessionFeatures) -> list[float]:
    """Return the columns as if the devices had been idle wherever they were not observed.

    The pipes have their own figures for that; the other signals shrink along with the matrix pipes, which
    leaves their proportions, and so the signature, as they are.
    """
    values = features.values
    total = values["matrix_flop"]
    share = values["observed_matrix_flop"] / total if total > 0 else 1.0
    own = {"matrix_flop": "observed_matrix_flop", "vector_flop": "observed_vector_flop"}
    return [
        values[own[name]] if name in own else value * share
        for name, value in zip(method.columns, row.tolist(), strict=True)
    ]


def _intervals(rows: NDArray[np.float64], method: Method, fitted: Mapping[str, Fitted]) -> list[LogInterval]:
    """Return for each session the interval that was calibrated for what answers there.

    Where the fused estimate has no signature to go by, its constant answers, and that one's bounds hold.
    """
    own = fitted[method.name]
    if not isinstance(own.state, FusedState):
        return [own.interval] * len(rows)
    constant = fitted["pipe-cycles-calibrated"].interval if "pipe-cycles-calibrated" in fitted else UNBOUNDED
    wider = LogInterval(min(own.interval.low, constant.low), max(own.interval.high, constant.high))
    return [wider if lacks else own.interval for lacks in own.state.lacks_signature(rows).tolist()]
