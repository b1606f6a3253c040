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
from flopwitness.estimate.predictors.format_choice import PLAUSIBLE
from flopwitness.estimate.predictors.fused import FusedState
from flopwitness.estimate.predictors.pipe_cycles import CalibratedPipeState, vector_excess
from flopwitness.physics.components import FORMATS


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
        asked = [sessions[number] for number in askable]
        answers = _estimates(asked, method, calibration, target)
        doubts = _format_findings(asked, method, calibration.fitted[target])
        for number, estimate, doubt in zip(askable, answers, doubts, strict=True):
            estimates[number][name] = estimate
            findings[number] += doubt
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
    rows = _rows(sessions, method)
    points = _points(fitted[method.name], rows)
    intervals = _intervals(rows, method, fitted)
    if method.witness is Witness.ACTIVITY:
        seen = np.array([_as_if_idle(row, method, one) for row, one in zip(rows, sessions, strict=True)])
        observed = _observed_flop(fitted[method.name], seen, sessions)
        ends = [_activity_ends(*each) for each in zip(observed.tolist(), sessions, intervals, strict=True)]
    else:
        ends = [_power_ends(*each) for each in zip(points.tolist(), sessions, intervals, strict=True)]
    most = _most_flop(rows, points, sessions, fitted, method)
    return [
        Estimate(
            point_flop=point,
            low_flop=min(low, point),
            high_flop=max(high, point),
            coverage_ratio=calibration.coverage_ratio,
            method=method.name,
            target=target,
            signals=method.columns,
            most_flop=max(top, high, point),
        )
        for point, (low, high), top in zip(points.tolist(), ends, most, strict=True)
    ]


def _most_flop(
    rows: NDArray[np.float64],
    points: NDArray[np.float64],
    sessions: Sequence[SessionFeatures],
    fitted: Mapping[str, Fitted],
    method: Method,
) -> list[float]:
    """Return what each session can have been at most if it was made to be under-counted.

    Only the fused estimate knows which formats it cannot exclude; every other method can be steered without
    limit. Matrix products could also hide in the vector work that usually goes along with matrix work.
    """
    own = fitted[method.name]
    if not isinstance(own.state, FusedState):
        return [float("inf")] * len(rows)
    answer = own.state.answer(rows)
    constant = fitted["pipe-cycles-calibrated"].guard_log if "pipe-cycles-calibrated" in fitted else np.inf
    explained = np.isfinite(answer.misfit)
    guard = np.where(explained, own.guard_log, np.maximum(own.guard_log, constant))
    guard = np.where(answer.is_other_format, np.maximum(own.guard_log, own.format_guard_log), guard)
    hidden = rows[:, 1] - vector_excess(rows, own.state.vector_ratio)
    stretch = np.exp(guard * own.state.strangeness(rows) + answer.most_log)
    top = np.full(len(rows), np.inf)  # 0 x infinity would be NaN
    np.multiply(points, stretch, out=top, where=np.isfinite(stretch))
    top += np.nan_to_num(hidden, nan=np.inf)  # nobody watched where products could hide
    unseen = np.array([one.values["unobserved_ceiling_flop"] for one in sessions])
    most: list[float] = (top + np.nan_to_num(unseen, nan=np.inf)).tolist()
    return most


def _format_findings(
    sessions: Sequence[SessionFeatures], method: Method, fitted: Mapping[str, Fitted]
) -> list[list[Finding]]:
    """Say for each session whether its number format could be told."""
    state = fitted[method.name].state
    if not sessions or not isinstance(state, FusedState) or not state.response.size:
        return [[] for _ in sessions]
    answer = state.answer(_rows(sessions, method))
    return [
        [] if known else [_open_format(probability)]
        for known, probability in zip(answer.is_identified.tolist(), answer.probability.tolist(), strict=True)
    ]


def _open_format(probability: Sequence[float]) -> Finding:
    if np.isfinite(probability[0]):
        names = ("half precision", *FORMATS)
        likely = sorted(zip(probability, names, strict=True), reverse=True)
        what = ", ".join(f"{name} {share:.0%}" for share, name in likely if share >= PLAUSIBLE)
        message = f"the number format is not certain ({what}): bounds cover them"
    else:
        message = (
            "no known training in any number format explains the signals: bounds cover all of the chip's"
        )
    return Finding("format-not-identified", message, Severity.WARNING)


def _rows(sessions: Sequence[SessionFeatures], method: Method) -> NDArray[np.float64]:
    return np.array([[features.values[column] for column in method.columns] for features in sessions])


def _points(fitted: Fitted, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(fitted.state.predict(rows), 0.0)


def _observed_flop(
    fitted: Fitted, seen: NDArray[np.float64], sessions: Sequence[SessionFeatures]
) -> NDArray[np.float64]:
    """Return what was seen, as if idle elsewhere, at the least that it can be worth."""
    points = _points(fitted, seen)
    if not isinstance(fitted.state, CalibratedPipeState):
        return points
    is_partly = np.array([one.values["activity_unobserved_seconds"] > 0 for one in sessions])
    return np.where(is_partly, np.minimum(points, fitted.state.least(seen)), points)


def _activity_ends(
    observed_flop: float, features: SessionFeatures, interval: LogInterval
) -> tuple[float, float]:
    low, high = bounds_flop([observed_flop], interval)[0].tolist()
    return low, high + _unobserved_flop(features, interval)


def _power_ends(point_flop: float, features: SessionFeatures, interval: LogInterval) -> tuple[float, float]:
    is_below_zero = point_flop <= 0  # cut off at 0: the session is none that the fit can speak of
    if is_below_zero or features.values["power_unobserved_seconds"] > 0:
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
    return [
        values.get(f"observed_{name}", value * share)
        for name, value in zip(method.columns, row.tolist(), strict=True)
    ]


def _intervals(rows: NDArray[np.float64], method: Method, fitted: Mapping[str, Fitted]) -> list[LogInterval]:
    """Return for each session the interval that was calibrated for what answers there.

    Where the fused estimate has no signature to go by, its constants answer: their bounds hold, opened for
    the formats that cannot be excluded.
    """
    own = fitted[method.name]
    if not isinstance(own.state, FusedState):
        return [own.interval] * len(rows)
    constant = fitted["pipe-cycles-calibrated"].interval if "pipe-cycles-calibrated" in fitted else UNBOUNDED
    answer = own.state.answer(rows)
    ends = own.state.spread(rows)[:, None] * np.array([own.interval])
    wider = np.column_stack([np.minimum(ends[:, 0], constant.low), np.maximum(ends[:, 1], constant.high)])
    ends = np.where(np.isfinite(answer.misfit)[:, None], ends, wider)
    ends = np.where(answer.is_other_format[:, None], np.array([own.format_interval]), ends)
    ends = ends + np.column_stack([answer.low_log, answer.high_log])
    return [LogInterval(low, high) for low, high in ends.tolist()]
