"""The jobs that a daemon knows: open ones with their totals, also those of before a restart."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from flopwitness.app.jobs import JobStream
from flopwitness.app.jobtotals import NOTHING, JobSoFar, JobTotal
from flopwitness.app.ticking import Round
from flopwitness.core.estimate import Estimate
from flopwitness.core.session import Session
from flopwitness.core.workload import Target
from flopwitness.detect.jobs.chain import Placed
from flopwitness.detect.jobs.mark import Mark
from flopwitness.detect.jobs.signature import SIGNALS


class JobBook:
    """Places sessions as they are told and adds up what each open job has spent."""

    def __init__(self) -> None:
        self._stream = JobStream()
        self._totals: dict[str, JobTotal] = {}

    def observe(self, pieces: Round) -> None:
        """Take the next samples of each device."""
        self._stream.observe(pieces)

    def add(self, session: Session, estimates: Mapping[Target, Mapping[str, Estimate]]) -> JobSoFar:
        """Place a session that has ended and count its FLOP for its job."""
        mark = self._stream.mark(session)
        placed = self._stream.place(mark)
        total = self._totals.get(placed.job_id, NOTHING).plus(estimates)
        still_open = self._stream.open_ids
        self._totals = {job_id: one for job_id, one in self._totals.items() if job_id in still_open}
        self._totals[placed.job_id] = total
        return JobSoFar(placed, total, mark)

    def resume(self, entry: Mapping[str, Any]) -> None:
        """Take up a workload that a journal holds; one of a version that kept no mark is passed over."""
        job = entry.get("job") or {}
        kept = job.get("mark") or {}
        if len(kept.get("signature", ())) != len(SIGNALS):
            return
        placed = Placed(job["job_id"], job["number"], job["n_sessions"], None)
        self._stream.resume(_mark_from(entry, kept), placed)
        self._totals[placed.job_id] = JobTotal(placed.n_sessions, _flop_from(job["flop"]))


def mark_object(mark: Mark) -> dict[str, object]:
    """Return what a journal needs of a mark beside the session itself; an unknown level is null."""
    return {
        "hosts": dict(mark.hosts),
        "signature": [float(level) if np.isfinite(level) else None for level in mark.signature],
        "level_bytes": dict(mark.level_bytes),
    }


def _mark_from(entry: Mapping[str, Any], kept: Mapping[str, Any]) -> Mark:
    levels = [np.nan if level is None else level for level in kept["signature"]]
    ends = entry["start_ns"], entry["stop_ns"]
    return Mark(
        entry["session_id"], *ends, kept["hosts"], np.array(levels, dtype=np.float64), kept["level_bytes"]
    )


def _flop_from(flop: Mapping[str, Any]) -> Mapping[Target, Mapping[str, tuple[float, float, float]]]:
    return {
        Target(name): {method: _ends(one) for method, one in by_name.items()}
        for name, by_name in flop.items()
    }


def _ends(one: Mapping[str, float | None]) -> tuple[float, float, float]:
    high = one["high_flop"]
    return one["point_flop"] or 0.0, one["low_flop"] or 0.0, float("inf") if high is None else high
