"""Scopes drawn from recordings with ground truth, each estimated with a calibration made on another node."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flopwitness.app.accounting import cut_to, session_evidence
from flopwitness.app.calibrating import calibrated
from flopwitness.app.labwork import OTHER_RUNS
from flopwitness.app.opening import open_dataset, open_runs
from flopwitness.app.truth import with_executed_truth
from flopwitness.app.witnessing import detected_sessions, logged_sessions, witnessed
from flopwitness.core.account import Account, DeviceWatch, Scope, SessionEvidence
from flopwitness.core.dataset import Dataset
from flopwitness.core.session import Session
from flopwitness.core.workload import Run, Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.verify.accounts import account
from flopwitness.verify.dependence import ALL_SHARED, Dependence, fitted_dependence
from flopwitness.verify.watching import ceiling_flop_per_second, device_watch

FOUND_RATIO = 0.2
"""Share of the scopes in which the detector finds what ran."""

SESSIONS = (2, 20)
"""Fewest and most of a scope of logged runs."""

WORKLOADS = (1, 5)
"""Fewest and most of a stretch in which the detector finds them."""

METHOD = "fused"
METHODS = (METHOD, "pipe-cycles-calibrated")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A scope, its evidence and its truth."""

    kind: str
    node: str
    names: tuple[str, ...]
    scope: Scope
    sessions: tuple[SessionEvidence, ...]
    watches: tuple[DeviceWatch, ...]
    truth: Mapping[Target, float]
    dependence: Mapping[Target, Dependence]

    def account(self, target: Target, *, is_measured: bool = False) -> Account:
        """Add up, as if sessions shared all of their errors, or as much as was measured elsewhere."""
        dependence = self.dependence[target] if is_measured else ALL_SHARED
        return account(
            self.scope, self.sessions, self.watches, target=target, method=METHOD, dependence=dependence
        )


@dataclass(frozen=True, slots=True)
class Logged:
    """The runs of a recording as evidence, all that was logged there, and what a detector finds."""

    dataset: Dataset
    runs: tuple[Run, ...]
    evidence: tuple[SessionEvidence, ...]
    all_runs: tuple[Run, ...]
    found: tuple[Session, ...]


def logged(path: Path, calibration: Calibration) -> Logged:
    """Estimate the logged runs of a dataset once, and keep everything that was logged for found scopes."""
    dataset = open_dataset(path)
    answers = witnessed(dataset.recording, logged_sessions(dataset.recording, dataset.runs), calibration)
    evidence = tuple(session_evidence(answer, source=path.name) for answer in answers)
    others = open_runs(path / OTHER_RUNS)
    everything = with_executed_truth(Dataset(dataset.recording, (*dataset.runs, *others), ()))
    return Logged(dataset, dataset.runs, evidence, everything.runs, detected_sessions(dataset.recording))


def truths(runs: Sequence[Run]) -> dict[Target, float]:
    """Return what was counted over some runs."""
    return {target: sum(run.truth.flop(target) or float("nan") for run in runs) for target in Target}


def apart(pairs: Sequence[tuple[Run, SessionEvidence]], n_wanted: int) -> list[tuple[Run, SessionEvidence]]:
    """Return the first that share no time, in time order.

    Ends of logged windows settle on the sensors, and two may touch by milliseconds, which an account refuses.
    """
    chosen: list[tuple[Run, SessionEvidence]] = []
    for run, one in pairs:
        if len(chosen) == n_wanted:
            break
        if all(one.start_ns >= other.stop_ns or one.stop_ns <= other.start_ns for _, other in chosen):
            chosen.append((run, one))
    return sorted(chosen, key=lambda pair: pair[1].start_ns)


def drawn_logged(
    node: str, held: Sequence[Logged], dependence: Mapping[Target, Dependence], rng: np.random.Generator
) -> Drawn:
    """Draw runs of a node; the time between them counts as seen idle."""
    pairs = [pair for one in held for pair in zip(one.runs, one.evidence, strict=True)]
    n_sessions = int(rng.integers(SESSIONS[0], SESSIONS[1] + 1))
    runs, sessions = zip(
        *apart([pairs[number] for number in rng.permutation(len(pairs))], n_sessions), strict=True
    )
    start, stop = min(one.start_ns for one in sessions), max(one.stop_ns for one in sessions)
    chips = {trace.device.uuid: trace.device.chip for one in held for trace in one.dataset.recording.traces}
    devices = tuple(sorted({uuid for one in sessions for uuid in one.devices}))
    watches = tuple(
        DeviceWatch(uuid, chips[uuid], ((start, stop),), ceiling_flop_per_second(chips[uuid]))
        for uuid in devices
    )
    scope = Scope(f"{node}, logged", devices, start, stop)
    names = tuple(run.config.name for run in runs)
    return Drawn("logged", node, names, scope, sessions, watches, truths(runs), dependence)


def drawn_found(
    node: str,
    held: Sequence[Logged],
    calibration: Calibration,
    dependence: Mapping[Target, Dependence],
    rng: np.random.Generator,
) -> Drawn:
    """Draw a stretch of a recording that holds whole runs and their warm-up; find what ran in it."""
    one = held[int(rng.integers(len(held)))]
    recording, runs = one.dataset.recording, sorted(one.all_runs, key=lambda run: run.start_ns)
    firsts = [number for number, run in enumerate(runs) if run.config.family == "warmup"]
    first = int(rng.integers(len(firsts) - 1))
    last = min(first + int(rng.integers(WORKLOADS[0], WORKLOADS[1] + 1)), len(firsts) - 1)
    inside = runs[firsts[first] : firsts[last]]
    before = runs[firsts[first] - 1].stop_ns if firsts[first] else inside[0].start_ns - 10**9
    start = (before + inside[0].start_ns) // 2
    stop = (inside[-1].stop_ns + runs[firsts[last]].start_ns) // 2
    devices = tuple(sorted(trace.device.uuid for trace in recording.traces))
    scope = Scope(f"{node}, found", devices, start, stop)
    found = [cut for each in one.found if (cut := cut_to(each, recording, scope))]
    sessions = tuple(
        session_evidence(answer, source=recording.name) for answer in witnessed(recording, found, calibration)
    )
    watches = tuple(device_watch(trace.within(start, stop), found) for trace in recording.traces)
    names = tuple(run.config.name for run in inside)
    return Drawn("found", node, names, scope, sessions, watches, truths(inside), dependence)


def dependence_of(held: Sequence[Logged], node: str) -> dict[Target, Dependence]:
    """Measure how much of their errors the sessions of a node share; nobody knows workloads of others."""
    found = {}
    for target in Target:
        rows = [
            (np.log(flop / estimate.point_flop), run.config.name)
            for one in held
            for run, evidence in zip(one.runs, one.evidence, strict=True)
            if (flop := run.truth.flop(target)) and (estimate := evidence.estimates[target].get(METHOD))
        ]
        errors, workloads = zip(*rows, strict=True)
        found[target] = fitted_dependence(errors, [node] * len(rows), workloads)
    return found


def scopes_of(
    nodes: Mapping[str, Sequence[Path]], n_scopes: int, rng: np.random.Generator
) -> tuple[list[Drawn], dict[str, dict[Target, Dependence]]]:
    """Draw scopes of two nodes in turn; return them, and what sessions of each node share of their errors.

    Parameters
    ----------
    nodes : mapping of str to sequence of Path
        Recordings of either node; each is the calibration of the other.
    n_scopes : int
        How many, the found ones last.
    rng : Generator
        Of the draw.
    """
    other = others_of(nodes)
    fitted = {
        node: calibrated([open_dataset(path) for path in paths], methods=METHODS)
        for node, paths in nodes.items()
    }
    held = {node: [logged(path, fitted[other[node]]) for path in paths] for node, paths in nodes.items()}
    shares = {node: dependence_of(held[node], node) for node in nodes}
    drawn = []
    for number in range(n_scopes):
        node = tuple(nodes)[number % 2]
        elsewhere = shares[other[node]]
        if number < n_scopes - round(n_scopes * FOUND_RATIO):
            drawn.append(drawn_logged(node, held[node], elsewhere, rng))
        else:
            drawn.append(drawn_found(node, held[node], fitted[other[node]], elsewhere, rng))
    return drawn, shares


def others_of(nodes: Mapping[str, object]) -> dict[str, str]:
    """Return the other of two nodes."""
    return dict(zip(nodes, reversed(tuple(nodes)), strict=True))
