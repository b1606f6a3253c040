"""From a session's features and a calibration to estimates with bounds."""

from collections.abc import Mapping
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
    """Estimate one session by every method of a calibration.

    Bounds are those of the calibration, opened for what nobody observed: at the low end as if the devices
    had been idle there, at the high end as if they had run at the chip's ceiling.

    Raises
    ------
    CalibrationMismatchError
        When the calibration is for another chip, or holds nothing for this target.
    """
    calibration.require_chips(features.chips)
    estimates, findings = {}, []
    fitted = calibration.for_target(target)
    for name in fitted:
        method = METHODS[name]
        missing = [column for column in method.required if not np.isfinite(features.values[column])]
        if missing:
            findings.append(
                Finding(
                    "method-unavailable",
                    f"{name} gives no estimate: {', '.join(missing)} is not known from the signals present",
                    Severity.NOTE,
                    subject=name,
                )
            )
            continue
        estimates[name] = _estimate(features, method, calibration, target)
    return Estimated(estimates, tuple(findings))


def _estimate(
    features: SessionFeatures, method: Method, calibration: Calibration, target: Target
) -> Estimate:
    fitted = calibration.fitted[target]
    row = np.array([[features.values[column] for column in method.columns]])
    point = _point(fitted[method.name], row)
    interval = _interval(row, method, fitted)
    if method.witness is Witness.ACTIVITY:
        observed = _point(fitted[method.name], _as_if_idle(row, method, features))
        low, high = bounds_flop([observed], interval)[0]
        high += _unobserved_flop(features, interval)
    elif features.values["power_unobserved_seconds"] > 0:
        low, high = 0.0, np.inf
    else:
        low, high = bounds_flop([point], interval)[0]
    return Estimate(
        point_flop=point,
        low_flop=min(float(low), point),
        high_flop=max(float(high), point),
        coverage_ratio=calibration.coverage_ratio,
        method=method.name,
        target=target,
        signals=method.columns,
    )


def _point(fitted: Fitted, row: NDArray[np.float64]) -> float:
    return max(float(fitted.state.predict(row)[0]), 0.0)


def _unobserved_flop(features: SessionFeatures, interval: LogInterval) -> float:
    """Return what the unobserved time adds to the upper end.

    The ceiling, stretched as the rest of the upper end is: a step seen at full rate and a step that nobody
    saw then count alike, so that hiding a step never lowers the end.
    """
    ceiling = features.values["unobserved_ceiling_flop"]
    return float(ceiling * np.exp(max(interval.high, 0.0))) if ceiling > 0 else 0.0


def _as_if_idle(row: NDArray[np.float64], method: Method, features: SessionFeatures) -> NDArray[np.float64]:
    """Return the columns as if the devices had been idle wherever they were not observed.

    The pipes have their own figures for that; the other signals shrink along with the matrix pipes, which
    leaves their proportions, and so the signature, as they are.
    """
    values = features.values
    total = values["matrix_flop"]
    share = values["observed_matrix_flop"] / total if total > 0 else 1.0
    own = {"matrix_flop": "observed_matrix_flop", "vector_flop": "observed_vector_flop"}
    columns = [
        values[own[name]] if name in own else value * share
        for name, value in zip(method.columns, row[0], strict=True)
    ]
    return np.array([columns])


def _interval(row: NDArray[np.float64], method: Method, fitted: Mapping[str, Fitted]) -> LogInterval:
    """Return the interval that was calibrated for what answers here.

    Where the fused estimate has no signature to go by, its constant answers, and that one's bounds hold.
    """
    own = fitted[method.name]
    if not isinstance(own.state, FusedState) or not own.state.lacks_signature(row)[0]:
        return own.interval
    constant = fitted["pipe-cycles-calibrated"].interval if "pipe-cycles-calibrated" in fitted else UNBOUNDED
    return LogInterval(min(own.interval.low, constant.low), max(own.interval.high, constant.high))
