"""A fitted state as plain values: what a calibration file holds, and estimates made from it.

Versioned; made for one chip. Predicting needs numpy alone, so it runs where nothing else is installed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from flopwitness.core.errors import CalibrationMismatchError
from flopwitness.core.workload import Target
from flopwitness.estimate.conformal import UNBOUNDED, LogInterval
from flopwitness.estimate.features.row import FEATURE_NAMES
from flopwitness.estimate.methods import METHODS, OWN_PIPES, PredictorState

FORMAT = "flopwitness-calibration"
VERSION = 3


@dataclass(frozen=True, slots=True)
class Fitted:
    """One estimator, fitted for one target.

    Attributes
    ----------
    state : PredictorState
        Its constants.
    interval : LogInterval
        Bounds of ln(truth / estimate) on runs that were held out, of a session of the usual spread: 1.
    guard_log : float
        Upper bound of it for runs that are made to be under-counted; infinite where there is none.
    format_interval, format_guard_log : LogInterval, float
        The same where the point rests on another number format than half precision; without bounds where no
        such runs were held out.
    """

    state: PredictorState
    interval: LogInterval
    guard_log: float = float("inf")
    format_interval: LogInterval = UNBOUNDED
    format_guard_log: float = float("inf")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Every estimator as fitted on one chip.

    Attributes
    ----------
    chip : str
        Name of the chip that it is for; sessions of others are refused.
    driver : str
        Driver version of the recordings; empty where unknown.
    data : mapping of str to str
        Name of each dataset and the SHA-256 of its samples.
    n_runs, n_workloads : int
        What it was fitted on.
    coverage_ratio : float
        Share of intervals that are to hold the truth.
    fitted : mapping of Target to mapping of str to Fitted
        By target and name of the method.
    """

    chip: str
    driver: str
    data: Mapping[str, str]
    n_runs: int
    n_workloads: int
    coverage_ratio: float
    fitted: Mapping[Target, Mapping[str, Fitted]] = field(default_factory=dict)

    def require_chips(self, chips: Iterable[str]) -> None:
        """Refuse devices of another chip.

        Raises
        ------
        CalibrationMismatchError
            When one of the chips is not the one that this was made for.
        """
        if others := sorted(set(chips) - {self.chip}):
            raise CalibrationMismatchError(
                f"calibration is for {self.chip}, the recording is of {', '.join(others)}"
            )

    def for_target(self, target: Target) -> Mapping[str, Fitted]:
        """Return the methods that were fitted for a target.

        Raises
        ------
        CalibrationMismatchError
            When there is none.
        """
        if target not in self.fitted:
            held = ", ".join(other.value for other in self.fitted) or "nothing"
            raise CalibrationMismatchError(
                f"the calibration was fitted for {held}, not for {target.value} FLOP"
            )
        return self.fitted[target]

    def to_payload(self) -> dict[str, Any]:
        """Return the content of a calibration file."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "chip": self.chip,
            "driver": self.driver,
            "data": dict(self.data),
            "n_runs": self.n_runs,
            "n_workloads": self.n_workloads,
            "coverage_ratio": self.coverage_ratio,
            "features": list(FEATURE_NAMES),
            "targets": {
                target.value: {name: _fitted_payload(name, fitted) for name, fitted in by_name.items()}
                for target, by_name in self.fitted.items()
            },
        }

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Build a calibration from what a file holds.

        Raises
        ------
        CalibrationMismatchError
            When it is of another format or version, names other methods or columns than ours, or holds
            constants that are not its methods'.
        """
        _require(payload, "format", FORMAT)
        _require(payload, "version", VERSION)
        try:
            return cls(
                chip=str(payload["chip"]),
                driver=str(payload["driver"]),
                data={str(name): str(digest) for name, digest in payload["data"].items()},
                n_runs=int(payload["n_runs"]),
                n_workloads=int(payload["n_workloads"]),
                coverage_ratio=float(payload["coverage_ratio"]),
                fitted={
                    Target(target): {name: _fitted(name, value) for name, value in by_name.items()}
                    for target, by_name in payload["targets"].items()
                },
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            what = f"{type(error).__name__}: {error}"
            raise CalibrationMismatchError(f"not a complete calibration ({what})") from None


def _require(payload: Mapping[str, Any], name: str, expected: object) -> None:
    if payload.get(name) != expected:
        raise CalibrationMismatchError(
            f"calibration {name} is {payload.get(name)!r}, this version reads {expected!r}"
        )


def _fitted_payload(name: str, fitted: Fitted) -> dict[str, Any]:
    return {
        "columns": list(METHODS[name].columns),
        "constants": fitted.state.to_plain(),
        "interval_log": [_plain(end) for end in fitted.interval],
        "guard_log": _plain(fitted.guard_log),
        "format_interval_log": [_plain(end) for end in fitted.format_interval],
        "format_guard_log": _plain(fitted.format_guard_log),
    }


def _fitted(name: str, value: Mapping[str, Any]) -> Fitted:
    if name not in METHODS:
        raise CalibrationMismatchError(f"calibration holds the unknown method {name!r}")
    method = METHODS[name]
    if tuple(value["columns"]) != method.columns:
        raise CalibrationMismatchError(
            f"{name} reads {list(method.columns)}, the calibration was fitted on {value['columns']}"
        )
    interval, format_interval = (
        _interval(name, value[key]) for key in ("interval_log", "format_interval_log")
    )
    state = method.state.from_plain(value["constants"])
    # Constants of other shapes than ours fail here, not later; beside other pipes no signature is asked.
    others = ("vector_flop", *OWN_PIPES)
    state.predict(np.array([[0.0 if column in others else 1.0 for column in method.columns]]))
    guard, format_guard = (_guard(name, value[key]) for key in ("guard_log", "format_guard_log"))
    return Fitted(state, interval, guard, format_interval, format_guard)


def _plain(end: float) -> float | None:
    """Return a number, or None for an open end."""
    return end if np.isfinite(end) else None


def _interval(name: str, ends: Sequence[Any]) -> LogInterval:
    low, high = ends
    interval = LogInterval(-np.inf if low is None else float(low), np.inf if high is None else float(high))
    if not interval.low <= interval.high:
        raise ValueError(f"{name} has the interval {ends}")
    return interval


def _guard(name: str, end: Any) -> float:
    guard = float("inf") if end is None else float(end)
    if not guard >= 0:
        raise ValueError(f"{name} has the guard {guard}")
    return guard
