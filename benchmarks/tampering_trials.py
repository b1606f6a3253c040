"""Trials of tampering: excerpts of recordings, changed until an estimate moves, and what is then found."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from flopwitness.app.examples import idle_watts_of, logged_session
from flopwitness.core.dataset import Dataset
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Run, Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.features.row import session_features
from flopwitness.estimate.methods import METHODS
from flopwitness.redteam.tampering.aim import Aim
from flopwitness.redteam.tampering.catalogue import TAMPERINGS, Tampering, Variant
from flopwitness.redteam.tampering.trials import TARGET_RATIO, Trial, strength_moving
from flopwitness.verify.consistency.blocks import blocks_of
from flopwitness.verify.consistency.checks import consistency_findings
from flopwitness.verify.consistency.load import power_residuals
from flopwitness.verify.consistency.state import ConsistencyState

EXCERPT_SECONDS = 90
METHOD = "pipe-cycles-calibrated"
"""Whose estimate is moved: the quickest that sees every signal of the matrix pipes."""

ORDINARY = (
    "twin",
    "split",
    "throttle",
    "heads",
    "batch",
    "recompute",
    "accumulate",
    "lora",
    "long",
    "handover",
    "half",
    "local",
    "bursts",
    "interleave",
    "offload",
)
"""Workloads of bf16 training without decoys, chosen operands or other number formats, by their first word."""

IDLE_NS = 20 * 10**9
"""Idle time around a workload that is looked at with it, at most."""

N_OTHERS = 12
"""Stretches that a second device is chosen from, and one for the first."""

MOST_DRAWS = 3
"""How many excerpts are tried for one in which a kind can move its estimate by 10 %; the last one counts."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a recording, what ran wholly inside, what was seen before, and idle power by UUID."""

    dataset: str
    recording: Recording
    runs: tuple[Run, ...]
    before: dict[str, Trace]
    idle_watts: dict[str, float]


def excerpt_of(dataset: Dataset, start_seconds: float, idle_watts: dict[str, float]) -> Excerpt:
    """Cut an excerpt out of a dataset."""
    recording = dataset.recording
    first_ns = int(recording.traces[0].time_ns[0]) + round(start_seconds * 1e9)
    last_ns = first_ns + EXCERPT_SECONDS * 10**9
    runs = tuple(run for run in dataset.runs if run.start_ns > first_ns and run.stop_ns < last_ns - 10**9)
    earlier = {trace.device.uuid: trace.within(0, first_ns - 1) for trace in recording.traces}
    return Excerpt(recording.name, recording.within(first_ns, last_ns), runs, earlier, idle_watts)


def composite_of(excerpt: Excerpt, others: list[Excerpt]) -> Excerpt:
    """Put the second device's samples of another stretch beside the first's: two jobs at once, one a device.

    Of the other stretches the one is taken whose energy differs most: exchanged devices that drew the same
    move no estimate.
    """
    own = excerpt.recording.traces[0]
    other = max(others, key=lambda each: abs(np.log(_joules(each.recording.traces[1]) / _joules(own))))
    second = other.recording.traces[1]
    moved = int(excerpt.recording.traces[1].time_ns[0] - second.time_ns[0])
    earlier = other.before[second.device.uuid]
    before = {
        own.device.uuid: excerpt.before[own.device.uuid],
        second.device.uuid: Trace(second.device, earlier.time_ns + moved, earlier.channels),
    }
    beside = Trace(second.device, second.time_ns + moved, second.channels)
    return replace(
        excerpt, recording=replace(excerpt.recording, traces=(own, beside)), runs=(), before=before
    )


def _joules(trace: Trace) -> float:
    return float(trace["energy_joules_total"][-1] - trace["energy_joules_total"][0])


def measured(excerpt: Excerpt, recording: Recording, measure: str, calibration: Calibration) -> float:
    """Return what a measure says of a recording; a run that it has no answer for counts as nothing."""
    if measure == "power":
        return float(sum(np.nanmean(trace["power_watts"]) - 80.0 for trace in recording.traces))
    sessions = [session for session in _sessions(excerpt, recording, measure) if session.n_samples > 1]
    features = [session_features(session, excerpt.idle_watts) for session in sessions]
    if measure.endswith("energy"):
        return float(np.nansum([each.values["net_energy_joules"] for each in features]))
    if measure == "links":
        return float(np.nansum([each.values["nvlink_bytes"] for each in features]))
    columns, state = METHODS[METHOD].columns, calibration.fitted[Target.EXECUTED][METHOD].state
    rows = np.array([[each.values[name] for name in columns] for each in features]).reshape(-1, len(columns))
    return float(np.nansum(state.predict(rows)))


def _sessions(excerpt: Excerpt, recording: Recording, measure: str) -> list[Session]:
    """Return the runs of the log where a measure asks for them, else the whole stretch."""
    if measure == "logged":
        return [logged_session(recording, run) for run in excerpt.runs]
    traces = recording.traces[:1] if measure.startswith("device") else recording.traces
    start_ns = min(int(trace.time_ns[0]) for trace in excerpt.recording.traces)
    stop_ns = max(int(trace.time_ns[-1]) for trace in excerpt.recording.traces)
    return [cut_session(traces, start_ns, stop_ns)]


def tried(  # noqa: PLR0913  who, how, what, and with which constants
    kind: Tampering,
    variant: Variant,
    excerpt: Excerpt,
    *,
    state: ConsistencyState,
    calibration: Calibration,
    seed: int,
) -> Trial:
    """Carry out one trial; a code that the excerpt shows untampered is not found by it."""
    recording, rng = excerpt.recording, np.random.default_rng(seed)
    first_ns, last_ns = int(recording.traces[0].time_ns[0]), int(recording.traces[0].time_ns[-1])
    start_ns = first_ns + round(
        (last_ns - first_ns) * (rng.uniform(0.15, 0.5) if variant.begins_inside else 0.0)
    )
    devices = (recording.traces[0].device.uuid,) if variant.name == "device" else ()
    aim = Aim(start_ns, last_ns, devices, variant.channels)
    clean = measured(excerpt, recording, variant.measure, calibration)

    def tampered(strength: float) -> Recording:
        return variant.change(recording, aim, strength, np.random.default_rng(seed))

    def moved_ratio(strength: float) -> float:
        return abs(measured(excerpt, tampered(strength), variant.measure, calibration) / clean - 1.0)

    strength, moved = strength_moving(moved_ratio, variant.largest)
    warns, hints = codes_of(consistency_findings(tampered(strength), state, before=excerpt.before))
    said_anyway, _ = codes_of(consistency_findings(recording, state, before=excerpt.before))
    return Trial(kind.name, variant.name, excerpt.dataset, strength, moved, warns - said_anyway, hints)


def trials_of(
    datasets: dict[str, Dataset],
    kind: Tampering,
    n_trials: int,
    *,
    state: ConsistencyState,
    calibration: Calibration,
) -> Iterator[Trial]:
    """Try every variant of a kind in turn, on excerpts that begin anywhere."""
    idle = {name: idle_watts_of(dataset.recording) for name, dataset in datasets.items()}
    names = sorted(datasets)
    weights = np.array([datasets[name].recording.traces[0].seconds()[-1] for name in names])
    for number in range(n_trials):
        seed = 1000 * sorted(TAMPERINGS).index(kind.name) + number
        variant = kind.variants[number % len(kind.variants)]
        rng = np.random.default_rng(seed)
        for _ in range(MOST_DRAWS):  # until the excerpt holds what is to be tampered with
            name = str(rng.choice(names, p=weights / weights.sum()))
            starts = rng.uniform(0, weights[names.index(name)] - EXCERPT_SECONDS, N_OTHERS)
            excerpt, *others = (excerpt_of(datasets[name], start, idle[name]) for start in starts)
            if variant.measure.startswith("device"):
                excerpt = composite_of(excerpt, others)
            trial = tried(kind, variant, excerpt, state=state, calibration=calibration, seed=seed)
            if trial.moved_ratio >= TARGET_RATIO:
                break
        yield trial


def codes_of(findings: tuple[Finding, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the codes of the findings that warn, and of those that are notes."""
    warns = frozenset(each.code for each in findings if each.severity is not Severity.NOTE)
    return warns, frozenset(each.code for each in findings) - warns


def clean_trials(datasets: dict[str, Dataset], n_trials: int, *, state: ConsistencyState) -> Iterator[Trial]:
    """Judge excerpts as they are, beginning at equal distances through all recordings."""
    longest = {name: dataset.recording.traces[0].seconds()[-1] for name, dataset in datasets.items()}
    total = sum(longest.values())
    for name, seconds in longest.items():
        for start in np.linspace(
            0, max(seconds - EXCERPT_SECONDS, 0.0), max(round(n_trials * seconds / total), 1)
        ):
            excerpt = excerpt_of(datasets[name], start, {})
            findings = consistency_findings(excerpt.recording, state, before=excerpt.before)
            yield Trial("clean", name, name, 0.0, 0.0, *codes_of(findings))


def session_trials(datasets: dict[str, Dataset], *, state: ConsistencyState) -> Iterator[Trial]:
    """Judge each stretch of runs of one workload as it is, with the idle time around it."""
    for name, dataset in datasets.items():
        for config, first_ns, last_ns in workload_stretches(dataset):
            recording = dataset.recording.within(first_ns, last_ns)
            before = {trace.device.uuid: trace.within(0, first_ns - 1) for trace in dataset.recording.traces}
            findings = consistency_findings(recording, state, before=before)
            yield Trial("clean-sessions", config, name, 0.0, 0.0, *codes_of(findings))


def workload_stretches(dataset: Dataset) -> Iterator[tuple[str, int, int]]:
    """Return name, first and last instant of each workload's runs in a row, with idle time beside them."""
    runs = sorted(dataset.runs, key=lambda run: run.start_ns)
    groups = [list(group) for _, group in groupby(runs, key=lambda run: run.config.name)]
    ends = [-(2**62), *(group[-1].stop_ns for group in groups)]
    starts = [*(group[0].start_ns for group in groups), 2**62]
    for number, group in enumerate(groups):
        first_ns = max(ends[number], group[0].start_ns - IDLE_NS)
        last_ns = min(starts[number + 1], group[-1].stop_ns + IDLE_NS)
        yield group[0].config.name, first_ns, last_ns


def is_ordinary(config: str) -> bool:
    """Say whether a workload means nothing to a check of signals; by its name."""
    return config.split("-", maxsplit=1)[0] in ORDINARY


def power_ratio(dataset: Dataset, first_ns: int, last_ns: int, state: ConsistencyState) -> float | None:
    """Return what was drawn above what activity predicts, of all devices; None where no block is judged."""
    parts = [
        power_residuals(blocks_of(trace.within(first_ns, last_ns)), state.power)
        for trace in dataset.recording.traces
    ]
    expected = sum(float(part.expected.sum()) for part in parts)
    return round(sum(float(part.residuals.sum()) for part in parts) / expected, 3) if expected else None


def clean_composites(
    datasets: dict[str, Dataset], n_trials: int, *, state: ConsistencyState
) -> Iterator[Trial]:
    """Judge untampered pairs of stretches, of which the exchanges of devices are made."""
    rng = np.random.default_rng(5)
    for _ in range(n_trials):
        name = str(rng.choice(sorted(datasets)))
        longest = datasets[name].recording.traces[0].seconds()[-1] - EXCERPT_SECONDS
        excerpt, *others = (excerpt_of(datasets[name], at, {}) for at in rng.uniform(0, longest, N_OTHERS))
        pair = composite_of(excerpt, others)
        findings = consistency_findings(pair.recording, state, before=pair.before)
        yield Trial("clean-pairs", "", name, 0.0, 0.0, *codes_of(findings))
