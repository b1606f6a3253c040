"""What a scheduler's jobs took: energy and FLOP of their own GPUs inside their windows, work or none.

A job is listed because its scheduler lists it, not because it did something; each reading of a GPU counts
once, however many processes or ranks the job has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flopwitness.app.witnessing import UNOBSERVED_NOTE_RATIO, detected_sessions, witnessed
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session, cut_session
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.features.row import session_features
from flopwitness.telemetry.scheduling.windows import JobWindow

SHOWN = ("fused", "pipe-cycles-calibrated", "linear-power")
"""A session counts with the first of these that gave an estimate."""


class Flop(NamedTuple):
    """A sum of estimates, end to end; 0 where nothing worked, NaN where a session has no estimate."""

    point: float = 0.0
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True, slots=True)
class JobUse:
    """One job as telemetry saw it.

    Attributes
    ----------
    job_id : str
        What the scheduler calls it.
    uuids : tuple of str
        GPUs that it held, sorted.
    start_ns, stop_ns : int
        Its window, ended where the recording ends, UTC nanoseconds.
    n_sessions : int
        Workloads inside it.
    energy_joules : float
        Of its boards over its window, idle power included; NaN where none of them was seen.
    unobserved_ratio : float
        Share of its GPU time whose energy nobody saw, 0 to 1.
    flop : mapping of Target to Flop
        By target; absent where none of its GPUs was seen. Without a high end where more than
        ``UNOBSERVED_NOTE_RATIO`` of its GPU time was not.
    """

    job_id: str
    uuids: tuple[str, ...]
    start_ns: int
    stop_ns: int
    n_sessions: int
    energy_joules: float
    unobserved_ratio: float
    flop: dict[Target, Flop]


def job_uses(
    recording: Recording, windows: Iterable[JobWindow], calibration: Calibration
) -> tuple[JobUse, ...]:
    """Return each job that overlaps a recording, by start.

    Parameters
    ----------
    recording : Recording
        Telemetry of some GPUs.
    windows : iterable of JobWindow
        What the scheduler says; those of one job are added up.
    calibration : Calibration
        For the chips of the recording.

    Raises
    ------
    UnknownChipError
        When nobody knows the chip of a GPU.
    """
    first_ns = min((int(trace.time_ns[0]) for trace in recording.traces if len(trace)), default=0)
    last_ns = max((int(trace.time_ns[-1]) for trace in recording.traces if len(trace)), default=0)
    by_job: dict[str, list[JobWindow]] = {}
    for window in sorted(windows, key=lambda one: one.start_ns):
        stop_ns = last_ns if window.stop_ns is None else window.stop_ns
        if window.start_ns < last_ns and stop_ns > first_ns and stop_ns > window.start_ns:
            closed = JobWindow(window.job_id, window.uuids, window.start_ns, stop_ns, window.host)
            by_job.setdefault(window.job_id, []).append(closed)
    return tuple(_use(recording, of_one, calibration) for of_one in by_job.values())


def _use(recording: Recording, windows: Sequence[JobWindow], calibration: Calibration) -> JobUse:
    parts = [_within(recording, window) for window in windows]
    seen = [part for part in parts if part]
    energies = [_energy(part) for part in seen]
    device_seconds = sum(
        len(one.uuids) * one.overlap_seconds(one.start_ns, one.stop_ns or one.start_ns) for one in windows
    )
    observed = sum(energy.observed_seconds for energy in energies)
    sessions = [session for part in seen for session in _sessions(recording, part)]
    unobserved = min(max(1.0 - observed / device_seconds, 0.0), 1.0)
    flop = _flop(recording, sessions, calibration) if seen else {}
    if unobserved > UNOBSERVED_NOTE_RATIO:
        flop = {target: one._replace(high=float("inf")) for target, one in flop.items()}
    return JobUse(
        windows[0].job_id,
        tuple(sorted({uuid for window in windows for uuid in window.uuids})),
        windows[0].start_ns,
        max(window.stop_ns or window.start_ns for window in windows),
        len(sessions),
        sum(energy.joules for energy in energies) if energies else float("nan"),
        unobserved,
        flop,
    )


class _Energy(NamedTuple):
    joules: float
    observed_seconds: float


def _within(recording: Recording, window: JobWindow) -> Session | None:
    """Return a window as one stretch of those of its GPUs that gave a sample inside; None where none did."""
    stop_ns = window.stop_ns or window.start_ns
    traces = tuple(
        trace
        for trace in recording.traces
        if trace.device.uuid in window.uuids and len(trace.within(window.start_ns, stop_ns))
    )
    return cut_session(traces, window.start_ns, stop_ns) if traces else None


def _energy(stretch: Session) -> _Energy:
    features = session_features(stretch, {trace.device.uuid: 0.0 for trace in stretch.traces})
    seconds = len(stretch.traces) * stretch.duration_seconds
    return _Energy(
        features.values["net_energy_joules"], seconds - features.values["power_unobserved_seconds"]
    )


def _sessions(recording: Recording, stretch: Session) -> tuple[Session, ...]:
    """Return the workloads of a job: found on its own GPUs and inside its window alone."""
    inside = tuple(trace.within(stretch.start_ns, stretch.stop_ns) for trace in stretch.traces)
    return detected_sessions(Recording(recording.name, inside, recording.provenance))


def _flop(recording: Recording, sessions: Sequence[Session], calibration: Calibration) -> dict[Target, Flop]:
    totals = {target: Flop() for target in calibration.fitted}
    for answer in witnessed(recording, sessions, calibration) if sessions else ():
        for target, by_name in answer.estimates.items():
            one = next((by_name[name] for name in SHOWN if name in by_name), None)
            ends = (one.point_flop, one.low_flop, one.high_flop) if one else (float("nan"),) * 3
            totals[target] = Flop(*(total + end for total, end in zip(totals[target], ends, strict=True)))
    return totals
