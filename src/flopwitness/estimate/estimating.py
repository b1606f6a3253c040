"""From a session's features and a calibration to estimates with bounds."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration, Fitted
from flopwitness.estimate.conformal import bounds_flop
from flopwitness.estimate.features.row import SessionFeatures
from flopwitness.estimate.methods import METHODS, Method, Witness


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
    fitted = calibration.fitted.get(target, {})
    estimates, findings = {}, []
    for name, one in fitted.items():
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
        estimates[name] = _estimate(features, method, one, calibration.coverage_ratio, target)
    return Estimated(estimates, tuple(findings))


def _estimate(
    features: SessionFeatures, method: Method, fitted: Fitted, coverage_ratio: float, target: Target
) -> Estimate:
    row = np.array([[features.values[column] for column in method.columns]])
    point = max(float(fitted.state.predict(row)[0]), 0.0)
    low, high = bounds_flop([point], fitted.interval)[0]
    if method.witness is Witness.ACTIVITY:
        low *= 1 - features.unobserved_ratio
        high += features.values["unobserved_ceiling_flop"]
    elif features.values["power_unobserved_seconds"] > 0:
        low, high = 0.0, np.inf
    return Estimate(
        point_flop=point,
        low_flop=float(low),
        high_flop=float(high),
        coverage_ratio=coverage_ratio,
        method=method.name,
        target=target,
        signals=method.columns,
    )
