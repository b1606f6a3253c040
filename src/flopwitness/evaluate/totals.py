"""FLOP of a whole capture: all that a detector and an estimator told, against all that was counted."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.estimate import Estimate
from flopwitness.core.workload import Target
from flopwitness.evaluate.detection import Detection, FoundWorkload


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """One method's total for one target.

    Attributes
    ----------
    target : Target
        Which FLOP are counted.
    method : str
        Name of the estimator.
    n_runs, n_unknown : int
        Logged runs, and those of them that nobody counted.
    is_complete : bool
        Whether the log lists everything that ran; where not, the truth is a part only.
    truth_flop : float
        What was counted, over all runs that were.
    point_flop, low_flop, high_flop : float
        Sums over everything that was found. The ends suppose every interval at its end at once.
    outside_flop : float
        The part of the point in findings of which the log says nothing.
    n_unanswered : int
        Findings that the method gave no estimate for; the sums are without them.
    error_ratio : ndarray of shape (n_pairs,), float64
        Estimate / truth - 1 of each workload that was found as one, counted and estimated. None of a log that
        is not complete: what was found then holds work that nobody logged.
    """

    target: Target
    method: str
    n_runs: int
    n_unknown: int
    is_complete: bool
    truth_flop: float
    point_flop: float
    low_flop: float
    high_flop: float
    outside_flop: float
    n_unanswered: int
    error_ratio: NDArray[np.float64]

    @property
    def ratio(self) -> float | None:
        """Point over truth; None where one of them lacks a part."""
        return self.point_flop / self.truth_flop if self._is_comparable else None

    @property
    def bounds_ratio(self) -> tuple[float, float] | None:
        """Low and high over truth; None where one of them lacks a part."""
        if not self._is_comparable:
            return None
        return self.low_flop / self.truth_flop, self.high_flop / self.truth_flop

    @property
    def _is_comparable(self) -> bool:
        return self.is_complete and self.n_unknown == self.n_unanswered == 0 and self.truth_flop > 0


def total_of(detection: Detection, target: Target, *, method: str, is_complete: bool) -> Total:
    """Add up what one method told of every workload that was found.

    Parameters
    ----------
    detection : Detection
        Logged and found workloads.
    target : Target
        Which FLOP to count.
    method : str
        Name of the estimator.
    is_complete : bool
        Whether the log lists everything that ran.
    """
    counts = [run.truth.flop(target) for true in detection.true for run in true.runs]
    known = [count for count in counts if count is not None]
    told = [estimate_of(found, target, method) for found in detection.found]
    outside = [one for one, spurious in zip(told, detection.spurious, strict=True) if spurious]
    given = _given(told)
    return Total(
        target=target,
        method=method,
        n_runs=len(counts),
        n_unknown=len(counts) - len(known),
        is_complete=is_complete,
        truth_flop=float(sum(known)),
        point_flop=float(sum(one.point_flop for one in given)),
        low_flop=float(sum(one.low_flop for one in given)),
        high_flop=float(sum(one.high_flop for one in given)),
        outside_flop=float(sum(one.point_flop for one in _given(outside))),
        n_unanswered=len(told) - len(given),
        error_ratio=_errors(detection, target, method) if is_complete else np.empty(0),
    )


def estimate_of(found: FoundWorkload, target: Target, method: str) -> Estimate | None:
    """Return one estimate of a finding; None where there is none."""
    return found.estimates.get(target, {}).get(method)


def _given(estimates: Iterable[Estimate | None]) -> list[Estimate]:
    return [one for one in estimates if one is not None]


def _errors(detection: Detection, target: Target, method: str) -> NDArray[np.float64]:
    found = [
        estimate.point_flop / flop - 1
        for true, told in detection.pairs
        if (flop := true.flop(target)) is not None
        and (estimate := estimate_of(told, target, method)) is not None
    ]
    return np.array(found, dtype=np.float64)
