"""Give a sweep that ran without a sampler its samples: those that a daemon recorded beside it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from flopwitness.app.labwork import (
    EVENTS,
    OTHER_RUNS,
    SWEEP,
    SWEEP_KIND,
    SWEEP_VERSION,
    WORDS,
    Outcome,
    gated,
    run_label,
    write_runs,
)
from flopwitness.app.opening import open_recording
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Recording
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.core.workload import Run
from flopwitness.lab.events import parsed
from flopwitness.storage.atomic import read_bytes
from flopwitness.storage.datasets import RUNS, SAMPLES, read_dataset_runs
from flopwitness.storage.documents import read_document, write_document
from flopwitness.storage.recordings import write_recording

MARGIN_NS = 10 * NANOSECONDS_PER_SECOND
"""Idle time that is kept before and after a sweep: baselines and ends of workloads need some."""


def attach(folder: Path, recording_path: Path) -> Outcome:
    """Write a sweep's ``samples.parquet`` from a recording; drop now the runs that left a GPU idle.

    The samples come last: where this is cut off, it can be done again.

    Parameters
    ----------
    folder : Path
        A dataset folder of the lab, without samples.
    recording_path : Path
        Whatever ``open_recording`` takes, such as a folder that ``watch --record`` or ``record`` wrote.

    Raises
    ------
    BadInputError
        When the folder holds no sweep, or samples already; when the recording lacks a GPU that the sweep ran
        on, or does not reach over every run.
    """
    sweep = read_document(folder / EVENTS / SWEEP, kind=SWEEP_KIND, version=SWEEP_VERSION)
    if (folder / SAMPLES).exists():
        raise BadInputError(str(folder), "", expected="a sweep without samples", got=SAMPLES)
    runs, sentences = read_dataset_runs(folder / RUNS)
    others, _ = read_dataset_runs(folder / OTHER_RUNS)
    start_ns, stop_ns = sweep_span(folder / EVENTS / WORDS)
    whole = _of_sweep(open_recording(recording_path), sweep, source=str(recording_path))
    _require_cover(whole.traces, runs, source=str(recording_path))
    cut = whole.within(start_ns - MARGIN_NS, stop_ns + MARGIN_NS)

    dropped = gated(runs, cut.traces) if sweep.get("gate", True) else {}
    idle = [run for run in runs if run_label(run) in dropped]
    kept = [run for run in runs if run_label(run) not in dropped]
    sentences += tuple(f"{name}: {why}" for name, why in dropped.items())
    write_runs(folder, kept, others=[*others, *idle], skipped=sentences)
    known = sweep | {"dropped": sweep["dropped"] | dropped, "recording": whole.name}
    write_document(folder / EVENTS / SWEEP, known, replace=True)
    named = Recording(folder.resolve().name, cut.traces, cut.provenance, cut.findings)
    write_recording(folder / SAMPLES, named, compact=True)
    return Outcome(sweep["ended"], len(kept), len(dropped), len(sweep["skipped"]))


def sweep_span(path: Path) -> tuple[int, int]:
    """Return when the ranks began to build the first configuration, and when they said their last word.

    Raises
    ------
    BadInputError
        When the file holds no such words.
    """
    try:
        # A killed parent may have left half a line.
        events = [event for line in read_bytes(path).splitlines() if (event := parsed(line)) is not None]
        first_ns = min(event["utc_ns"] for event in events if event["event"] == "building")
        return first_ns, max(event["utc_ns"] for event in events)
    except (ValueError, KeyError, TypeError) as error:
        expected = "the words of ranks, one of them 'building'"
        raise BadInputError(str(path), "", expected=expected, got=str(error)) from error


def _of_sweep(recording: Recording, sweep: dict[str, Any], *, source: str) -> Recording:
    """Leave only the GPUs that the sweep ran on, where its ranks knew them."""
    wanted = {str(one["uuid"]) for one in sweep["environment"].values() if "uuid" in one}
    found = tuple(trace for trace in recording.traces if not wanted or trace.device.uuid in wanted)
    if missing := wanted - {trace.device.uuid for trace in found}:
        got = "none of " + ", ".join(sorted(missing))
        raise BadInputError(source, "", expected="samples of every GPU of the sweep", got=got)
    return Recording(recording.name, found, recording.provenance, recording.findings)


def _require_cover(traces: Sequence[Trace], runs: Iterable[Run], *, source: str) -> None:
    """Refuse a recording that began after the start of a run, or ended before its stop."""
    for run in runs:
        for trace in traces:
            if not len(trace) or trace.time_ns[0] > run.start_ns or trace.time_ns[-1] < run.stop_ns:
                expected = f"samples over all of {run_label(run)}"
                raise BadInputError(source, "", expected=expected, got=f"fewer of {trace.device.uuid}")
