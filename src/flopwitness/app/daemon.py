"""The daemon: samples to store, finder, estimate, journal. Only the order of things; it computes nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.classifying import shipped_classifier
from flopwitness.app.consistency import ConsistencyWatch
from flopwitness.app.finding_workloads import Workload, WorkloadFinder
from flopwitness.app.jobbook import JobBook
from flopwitness.app.jobtotals import JobSoFar
from flopwitness.app.opinions import OpinionWatch
from flopwitness.app.ticking import Round
from flopwitness.app.witnessing import UNOBSERVED_NOTE_RATIO, Witnessed
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.session import Session
from flopwitness.core.workclass import ClassOpinion
from flopwitness.detect.stalls import ALARM_SECONDS
from flopwitness.detect.stretches import STALLED_NAME
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.estimating import estimated_all
from flopwitness.estimate.features.row import SessionFeatures


class Keeper(Protocol):
    """Keeps what may not be lost; each call returns when it is on disk."""

    def append(self, entry: Any, /) -> object:
        """Keep one thing."""
        ...


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished workload with its estimates.

    Attributes
    ----------
    witnessed : Witnessed
        Session (without its samples), estimates and findings.
    n_samples : int
        Samples inside, over all devices.
    job : JobSoFar or None
        The job that it belongs to; None where nobody looked.
    energy_joules : float
        Of its boards, idle power included; NaN where unknown.
    """

    witnessed: Witnessed
    n_samples: int
    job: JobSoFar | None = None
    energy_joules: float = float("nan")


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the daemon puts things.

    Attributes
    ----------
    is_known : callable
        Says of a session whether it was kept before.
    keep : callable
        Forces a finished workload to disk.
    tell : callable
        Says it, once it is kept.
    store : Keeper or None
        Records the samples; they are on disk before anything is made of them.
    show : callable
        Called after each batch, with the daemon: the live view.
    """

    is_known: Callable[[Session], bool]
    keep: Callable[[Finished], None]
    tell: Callable[[Finished], None]
    store: Keeper | None = None
    show: Callable[["Daemon"], None] = lambda _: None


class Daemon:
    """Takes batches of samples until there are no more.

    Parameters
    ----------
    finder : WorkloadFinder
        Tells the workloads.
    calibration_for : callable
        Gives the calibration for the chips of a workload.
    outputs : Outputs
        Where things go.
    baselines : IdleBaselines
        Idle power so far.
    jobs : JobBook or None
        Jobs so far; a fresh book where None.
    """

    def __init__(
        self,
        finder: WorkloadFinder,
        calibration_for: Callable[[tuple[str, ...]], Calibration],
        *,
        outputs: Outputs,
        baselines: IdleBaselines,
        jobs: JobBook | None = None,
    ) -> None:
        self.finder = finder
        self.baselines = baselines
        self.calibration_for = calibration_for
        self._outputs = outputs
        self._jobs = jobs or JobBook()
        self.consistency = ConsistencyWatch()
        self._opinions = OpinionWatch(shipped_classifier)
        self.n_finished = 0
        self.latest: Round = ()

    def recall(self, pieces: Iterable[Round]) -> None:
        """Take what was recorded before a restart: nothing is recorded again, nothing told twice."""
        for batch in pieces:
            self._take(batch)

    def run(self, batches: Iterable[Round], *, once: bool = False) -> None:
        """Take batches; at their end close what is open, unless the first workload was all that was asked."""
        for batch in batches:
            if self._outputs.store is not None:
                self._outputs.store.append(batch)
            self._take(batch)
            self._outputs.show(self)
            if once and self.n_finished:
                return
        self._finish(self.finder.close())
        self._outputs.show(self)

    def _take(self, batch: Round) -> None:
        self.latest = batch or self.latest
        self._jobs.observe(batch)
        self.consistency.observe(batch)
        self._opinions.observe(batch)
        for piece in batch:
            self.baselines.observe(piece)
        self._finish(self.finder.feed(batch))

    def _finish(self, workloads: Sequence[Workload]) -> None:
        for workload in workloads:
            if not self._outputs.is_known(workload.session):
                finished = estimated_workload(workload, self.baselines, self.calibration_for)
                finished = with_findings(finished, self.consistency.findings(workload.session))
                finished = with_opinion(finished, self._opinions.opinion(workload.session))
                job = self._jobs.add(workload.session, finished.witnessed.estimates)
                self._outputs.keep(finished := replace(finished, job=job))
                self._outputs.tell(finished)
                self.n_finished += 1


def estimated_workload(
    workload: Workload,
    baselines: IdleBaselines,
    calibration_for: Callable[[tuple[str, ...]], Calibration],
) -> Finished:
    """Estimate a workload for every target of the calibration."""
    session = workload.session
    uuids = [trace.device.uuid for trace in session.traces]
    features = above_idle(workload.features, baselines.watts(uuids))
    calibration = calibration_for(features.chips)
    answers = {target: estimated_all([features], calibration, target)[0] for target in calibration.fitted}
    findings = [
        *_workload_findings(workload),
        *(finding for answer in answers.values() for finding in answer.findings),
    ]
    estimates = {target: answer.estimates for target, answer in answers.items()}
    witnessed = Witnessed(session, estimates, tuple(dict.fromkeys(findings)))
    energy_joules = workload.features.values["net_energy_joules"]  # for an idle power of 0: all of it
    return Finished(witnessed, workload.n_samples, energy_joules=energy_joules)


def with_findings(finished: Finished, findings: tuple[Finding, ...]) -> Finished:
    """Return a finished workload with more findings."""
    witnessed = finished.witnessed
    return replace(finished, witnessed=replace(witnessed, findings=(*witnessed.findings, *findings)))


def with_opinion(finished: Finished, opinion: ClassOpinion) -> Finished:
    """Return a finished workload with what kind of work it was."""
    return replace(finished, witnessed=replace(finished.witnessed, opinion=opinion))


def above_idle(features: SessionFeatures, idle_watts: Mapping[str, float]) -> SessionFeatures:
    """Return features with the energy that the idle boards would have drawn taken off."""
    values = dict(features.values)
    values["net_energy_joules"] -= sum(idle_watts.values()) * values["duration_seconds"]
    return replace(features, values=values)


def _workload_findings(workload: Workload) -> list[Finding]:
    session, found = workload.session, []
    start_ns, stop_ns = session.start_ns, session.stop_ns
    if session.name == STALLED_NAME:
        severity = Severity.ALARM if session.duration_seconds >= ALARM_SECONDS else Severity.WARNING
        for trace in session.traces:
            message = (
                f"GPU {trace.device.uuid} was held for {session.duration_seconds:.0f} s with tensor and DRAM "
                "activity at idle: no work was done"
            )
            found.append(Finding(STALLED_NAME, message, severity, trace.device.uuid, start_ns, stop_ns))
    if (unseen := workload.features.unobserved_ratio) > UNOBSERVED_NOTE_RATIO:
        message = (
            f"{unseen:.1%} of the device time was unobserved: bounds reach from idle to the chip's ceiling"
        )
        found.append(
            Finding("unobserved-time", message, Severity.WARNING, start_ns=start_ns, stop_ns=stop_ns)
        )
    return found
