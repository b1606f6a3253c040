"""Run the lab under a sampler and keep what comes out as a dataset folder, safe against kills.

Written as the sweep goes: ``samples.parquet``, ``runs.json`` (measured runs), ``other_runs.json`` (warm-up
steps and dropped runs, so that everything that ran is counted), ``events/sweep.json`` (what was skipped or
dropped and why, software, devices) and ``events/events.jsonl`` (every word of the ranks).
"""

import json
import math
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.core.workload import Run
from flopwitness.lab.journal import Journal
from flopwitness.lab.sampling import SamplingThread
from flopwitness.lab.sweep import Plan, run_sweep
from flopwitness.storage.atomic import reason
from flopwitness.storage.datasets import KIND, RUNS, SAMPLES, VERSION
from flopwitness.storage.documents import write_document
from flopwitness.storage.nouns import run_to
from flopwitness.storage.recordings import write_recording

OTHER_RUNS, EVENTS, SWEEP, WORDS = "other_runs.json", "events", "sweep.json", "events.jsonl"
SWEEP_KIND, SWEEP_VERSION = "flopwitness-sweep", 1

FLUSH_SECONDS = 20.0
"""How much a killed parent loses of the samples at most."""

MIN_UTILISATION_RATIO = 0.8
"""The experiment's gate: runs whose mean utilisation is lower on any GPU are listed, not used."""

UTILISATION_LAG_NS = NANOSECONDS_PER_SECOND
"""A utilisation speaks of up to the last second (NVML API reference, nvmlUtilization_t): the first second of
a run still shows the rest before it."""

CLOCK_QUERY = (
    "nvidia-smi",
    "--query-gpu=uuid,name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,vbios_version",
    "--format=csv,noheader",
)


class LiveSampler(Protocol):
    """What the lab asks of a sampler."""

    source: str
    driver: str

    def sample(self) -> tuple[Trace, ...]:
        """Return one sample of each device that answered."""
        ...

    def close(self) -> None:
        """Let go of the hardware."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a sweep ended: why, and how many runs were measured, dropped and skipped."""

    reason: str
    n_runs: int
    n_dropped: int
    n_skipped: int


class LabFolder:
    """A dataset folder in the making.

    Parameters
    ----------
    folder : Path
        Made here; must not hold a sweep already.
    sampling : SamplingThread
        Where samples come from.
    journal : Journal
        What was measured.
    provenance : Provenance
        Of the samples.
    gate : bool
        Whether runs that did not load their GPUs are dropped.

    Raises
    ------
    BadInputError
        When the folder holds a sweep or cannot be made.
    """

    def __init__(
        self,
        folder: Path,
        sampling: SamplingThread,
        journal: Journal,
        *,
        provenance: Provenance,
        gate: bool = True,
    ) -> None:
        if (folder / RUNS).exists():
            raise BadInputError(str(folder), "", expected="a new folder", got="one that holds a dataset")
        try:
            (folder / EVENTS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInputError(
                str(folder), "", expected="a folder to write to", got=reason(error)
            ) from error
        self.folder, self.sampling, self.journal, self.provenance = folder, sampling, journal, provenance
        self.gate = gate
        self.devices = _devices_seen()
        self._flushed_monotonic = -math.inf
        self._n_runs = self._n_events = 0

    def look(self) -> None:
        """Write what is new: events and runs at once, samples when some time has passed."""
        self._append_events()
        n_runs = len(self.journal.runs) + len(self.journal.warmups)
        if n_runs != self._n_runs:
            self._n_runs = n_runs
            self._write_runs(self.journal.runs, dropped={})
        if time.monotonic() - self._flushed_monotonic >= FLUSH_SECONDS:
            self._write_samples()
            self._write_sweep("still running", dropped={})

    def finish(self, ended: str) -> Outcome:
        """Write everything for good; decide now which runs did not load their GPUs."""
        self._append_events()
        traces = self._write_samples()
        dropped = gated(self.journal.runs, traces) if self.gate else {}
        kept = [run for run in self.journal.runs if run_label(run) not in dropped]
        self._write_runs(kept, dropped=dropped)
        self._write_sweep(ended, dropped=dropped)
        return Outcome(ended, len(kept), len(dropped), len(self.journal.skipped))

    def _write_samples(self) -> tuple[Trace, ...]:
        self._flushed_monotonic = time.monotonic()
        traces = self.sampling.traces()
        if traces:
            findings = tuple(
                Finding("sampling", f"{number} times: {what}", Severity.WARNING)
                for what, number in self.sampling.problems.items()
            )
            recording = Recording(self.folder.resolve().name, traces, self.provenance, findings)
            write_recording(self.folder / SAMPLES, recording, replace=True, compact=True)
        return traces

    def _write_runs(self, runs: Sequence[Run], *, dropped: dict[str, str]) -> None:
        sentences = [f"{name}: {why}" for name, why in (self.journal.skipped | dropped).items()]
        others = [*self.journal.warmups, *(run for run in self.journal.runs if run_label(run) in dropped)]
        write_runs(self.folder, runs, others=others, skipped=sentences)

    def _write_sweep(self, ended: str, *, dropped: dict[str, str]) -> None:
        content: dict[str, Any] = {
            "format": SWEEP_KIND,
            "version": SWEEP_VERSION,
            "ended": ended,
            "finished": self.journal.finished,
            "skipped": self.journal.skipped,
            "dropped": dropped,
            "gate": self.gate,
            "environment": self.journal.environments,
            "devices": self.devices,
            "sampling_problems": dict(self.sampling.problems),
        }
        write_document(self.folder / EVENTS / SWEEP, content, replace=True)

    def _append_events(self) -> None:
        new = self.journal.events[self._n_events :]
        if new:
            self._n_events += len(new)
            with (self.folder / EVENTS / WORDS).open("a", encoding="utf-8") as out:
                out.writelines(json.dumps(event) + "\n" for event in new)


def sweep_into(
    folder: Path,
    plan: Plan,
    sampler: LiveSampler,
    *,
    interval_seconds: float = 0.1,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Run a plan under a sampler into a folder; what was measured is kept whatever ends it.

    Parameters
    ----------
    folder : Path
        The dataset to write.
    plan : Plan
        What to run.
    sampler : LiveSampler
        Asked in a thread of this process; closed at the end.
    interval_seconds : float
        Time between samples.
    say : callable
        Takes lines of progress.

    Raises
    ------
    BadInputError
        When the folder is taken or cannot be written to.
    """
    journal = Journal(plan.configurations, n_ranks=plan.n_ranks, say=say)
    journal.skipped |= plan.left_out
    sampling = SamplingThread(sampler, interval_seconds=interval_seconds)
    provenance = Provenance(
        sampler.source, driver=sampler.driver, clock="host UTC", interval_seconds=interval_seconds
    )
    ended = "interrupted"
    try:
        kept = LabFolder(folder, sampling, journal, provenance=provenance, gate=plan.gate)
        sampling.start()
        try:
            ended = run_sweep(plan, journal, logs=folder / EVENTS, look=kept.look)
        except KeyboardInterrupt:
            say("interrupted; keeping what was measured")
        finally:
            sampling.stop()
            outcome = kept.finish(ended)
    finally:
        sampler.close()
    return outcome


def write_runs(folder: Path, runs: Sequence[Run], *, others: Sequence[Run], skipped: Sequence[str]) -> None:
    """Write measured runs with the sentences of what is not among them, and all others beside them."""
    for name, members, sentences in ((RUNS, runs, skipped), (OTHER_RUNS, others, ())):
        content = {"format": KIND, "version": VERSION, "skipped": list(sentences)}
        plain = [run_to(run) for run in sorted(members, key=lambda run: run.start_ns)]
        write_document(folder / name, content | {"runs": plain}, replace=True)


def gated(runs: Iterable[Run], traces: Sequence[Trace]) -> dict[str, str]:
    """Return the runs that did not load their GPUs, by label, and why each is dropped."""
    return {run_label(run): why for run in runs if (why := underused(run, traces))}


def underused(run: Run, traces: Iterable[Trace]) -> str:
    """Say which GPU a run left idle; empty where none, or where nobody measured utilisation."""
    lag_ns = UTILISATION_LAG_NS if run.stop_ns - run.start_ns > UTILISATION_LAG_NS else 0
    for trace in traces:
        values = trace.within(run.start_ns + lag_ns, run.stop_ns).column("gpu_util_ratio")
        known = values[np.isfinite(values)]
        if len(known) and (mean := float(known.mean())) < MIN_UTILISATION_RATIO:
            return f"mean utilisation {mean:.2f} on {trace.device.uuid}"
    return ""


def run_label(run: Run) -> str:
    """Return what a run is called where it is listed."""
    return f"{run.config.name}, trace {run.trace_index}"


def _devices_seen() -> list[str]:
    """Return a line a GPU with its identity, driver, clocks and power limit; none where nobody can say."""
    try:
        answer = subprocess.run(CLOCK_QUERY, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return []
    return answer.stdout.splitlines()
