"""Gather what a report shows: evaluations, sessions and time lines of some datasets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flopwitness.app.calibrating import calibrated, recording_sha256
from flopwitness.app.evaluating import Watch, evaluated, evaluated_frozen, splits_of
from flopwitness.app.examples import examples_of
from flopwitness.app.jobs import placed_jobs
from flopwitness.app.report.content import ReportContent, SessionResult
from flopwitness.app.witnessing import detected_sessions, logged_sessions, witnessed
from flopwitness.core.dataset import Dataset
from flopwitness.core.session import Session
from flopwitness.core.workload import Run, Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.protocols import Protocol

MIN_TESTED_RUNS = 10
"""Datasets with fewer runs than this are shown, but no figure over runs is made of them."""


@dataclass(frozen=True, slots=True)
class ReportPlan:
    """What to put into a report.

    Attributes
    ----------
    title : str
        Heading of the page.
    n_splits, seed : int
        Of the experiment's protocol.
    calibration : Calibration or None
        What estimates the sessions; fitted on the first dataset where None.
    """

    title: str
    n_splits: int = 200
    seed: int = 0
    calibration: Calibration | None = None


def gathered(
    datasets: Sequence[Dataset], plan: ReportPlan, *, watch: Callable[[str], Watch]
) -> ReportContent:
    """Evaluate on the first dataset, test on the others, and witness every session.

    Sessions of a dataset that the calibration was fitted on get no estimate: it has seen their truth.

    Parameters
    ----------
    datasets : sequence of Dataset
        At least one.
    plan : ReportPlan
        What to do.
    watch : callable
        Makes what shows progress, given what is going on.
    """
    evaluations = {
        (one.protocol, one.examples.target): one
        for target in Target
        for one in _evaluations(datasets, target, plan, watch)
    }
    calibration = plan.calibration or calibrated(datasets[:1])
    return ReportContent(
        title=plan.title,
        generated_from={dataset.recording.name: recording_sha256(dataset) for dataset in datasets},
        evaluations=evaluations,
        calibration=calibration,
        recordings=tuple(dataset.recording for dataset in datasets),
        sessions={dataset.recording.name: _results(dataset, calibration) for dataset in datasets},
    )


def _evaluations(
    datasets: Sequence[Dataset], target: Target, plan: ReportPlan, watch: Callable[[str], Watch]
) -> list[Evaluation]:
    examples = examples_of(datasets[:1], target)
    found = []
    for protocol in (Protocol.RANDOM, Protocol.FAMILY):
        splits = splits_of(protocol, examples, n_splits=plan.n_splits, seed=plan.seed)
        found.append(evaluated(protocol, examples, splits, watch=watch(f"{protocol}, {target}")))
    tested = [dataset for dataset in datasets[1:] if len(dataset.runs) >= MIN_TESTED_RUNS]
    if tested:
        test = examples_of(tested, target)
        found.append(evaluated_frozen(examples, test, watch=watch(f"frozen, {target}")))
    return found


def _results(dataset: Dataset, calibration: Calibration) -> tuple[SessionResult, ...]:
    """Witness the logged runs, and every session beside them that no log names."""
    logged = logged_sessions(dataset.recording, dataset.runs)
    unlogged = [
        session for session in detected_sessions(dataset.recording) if not _overlaps(session, dataset.runs)
    ]
    sessions = sorted([*logged, *unlogged], key=lambda session: session.start_ns)
    answers = witnessed(dataset.recording, sessions, calibration)
    was_fitted_on = calibration.data.get(dataset.recording.name) == recording_sha256(dataset)
    truths = {run.start_ns: _truths(run) for run in dataset.runs}
    return tuple(
        SessionResult(
            answer.session,
            {} if was_fitted_on else answer.estimates,
            truths.get(answer.session.start_ns),
            answer.findings,
            job,
            None if was_fitted_on else answer.opinion,
        )
        for answer, job in zip(answers, placed_jobs(sessions, dataset.recording.traces), strict=True)
    )


def _overlaps(session: Session, runs: Sequence[Run]) -> bool:
    return any(run.start_ns < session.stop_ns and session.start_ns < run.stop_ns for run in runs)


def _truths(run: Run) -> Mapping[Target, float | None]:
    return {target: run.truth.flop(target) for target in Target}
