"""Metrics of workloads: those that run, those that finished, and the totals of all."""

from collections.abc import Iterable, Iterator, Mapping

from flopwitness.app.serving.exposition_text import Family, Sample, counter, gauge, info, labels
from flopwitness.app.serving.snapshot import Bounded, FinishedWorkload, RunningWorkload, Snapshot
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Target

N_SHOWN = 20
"""Finished workloads that are shown one by one: each is a set of new series, so their number is bounded."""


def workload_families(snapshot: Snapshot) -> Iterator[Family]:
    """Yield the families of running and finished workloads and of the totals."""
    yield counter(
        "flopwitness_workloads_finished",
        "Workloads that have finished.",
        [("", float(snapshot.n_finished))],
    )
    yield counter(
        "flopwitness_flop",
        "FLOP of all finished workloads, with bounds.",
        _bounds(snapshot.totals),
    )
    yield gauge(
        "flopwitness_running_workloads", "Workloads that run now.", [("", float(len(snapshot.running)))]
    )
    yield from _running(snapshot.running)
    yield from _finished(snapshot.finished[-N_SHOWN:])


def _running(workloads: tuple[RunningWorkload, ...]) -> Iterator[Family]:
    """Yield what runs now. A workload is called by its first GPU: a GPU runs one at a time."""
    prefix, named = "flopwitness_running", [(each.uuids[0], each) for each in workloads if each.uuids]
    yield gauge(
        f"{prefix}_flop",
        "FLOP so far of the workload that runs on this GPU first, with bounds.",
        (sample for uuid, each in named for sample in _bounds(each.flop, UUID=uuid)),
    )
    yield info(
        f"{prefix}_method",
        "What gave the FLOP of a running workload.",
        (
            labels(UUID=uuid, target=target.value, method=flop.method)
            for uuid, each in named
            for target, flop in each.flop.items()
        ),
    )
    yield info(
        f"{prefix}_member",
        "Which GPUs a running workload has: it is called by the one in lead_UUID.",
        (labels(UUID=member, lead_UUID=uuid) for uuid, each in named for member in each.uuids),
    )
    yield gauge(
        f"{prefix}_gpus",
        "How many GPUs a running workload has.",
        ((labels(UUID=uuid), float(len(each.uuids))) for uuid, each in named),
    )
    yield gauge(
        f"{prefix}_start_timestamp_seconds",
        "When a running workload started.",
        ((labels(UUID=uuid), each.start_ns / NANOSECONDS_PER_SECOND) for uuid, each in named),
    )
    yield gauge(
        f"{prefix}_last_sample_timestamp_seconds",
        "Up to when the FLOP of a running workload are counted.",
        ((labels(UUID=uuid), each.last_ns / NANOSECONDS_PER_SECOND) for uuid, each in named),
    )


def _finished(workloads: tuple[FinishedWorkload, ...]) -> Iterator[Family]:
    prefix = "flopwitness_finished"
    named = {labels(session_id=each.session_id): each for each in workloads}
    yield info(
        prefix,
        f"The latest {N_SHOWN} finished workloads.",
        (
            labels(session_id=each.session_id, name=each.name, work_class=each.work_class, job_id=each.job_id)
            for each in named.values()
        ),
    )
    yield gauge(
        f"{prefix}_flop",
        "FLOP of a finished workload, with bounds.",
        (sample for each in named.values() for sample in _bounds(each.flop, session_id=each.session_id)),
    )
    figures = (
        ("start_timestamp_seconds", "When a finished workload started.", _start_seconds),
        ("stop_timestamp_seconds", "When a finished workload stopped.", _stop_seconds),
        ("energy_joules", "Energy of the boards of a finished workload.", lambda each: each.energy_joules),
        ("gpus", "How many GPUs a finished workload had.", lambda each: float(len(each.uuids))),
        ("findings", "How many findings a finished workload has.", lambda each: float(len(each.findings))),
    )
    for name, meaning, figure in figures:
        yield gauge(f"{prefix}_{name}", meaning, ((label, figure(each)) for label, each in named.items()))


def _start_seconds(workload: FinishedWorkload) -> float:
    return workload.start_ns / NANOSECONDS_PER_SECOND


def _stop_seconds(workload: FinishedWorkload) -> float:
    return workload.stop_ns / NANOSECONDS_PER_SECOND


def _bounds(flop: Mapping[Target, Bounded], **pairs: str) -> Iterable[Sample]:
    for target, bounded in flop.items():
        values = {"low": bounded.low_flop, "point": bounded.point_flop, "high": bounded.high_flop}
        for bound, value in values.items():
            yield labels(**pairs, target=target.value, bound=bound), value
