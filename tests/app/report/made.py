"""Small contents of a report whose every number is known, and fakes for drawing."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from flopwitness.app.report.content import ReportContent, SessionResult
from flopwitness.app.report.scores import Scored, scored
from flopwitness.core.device import Device
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.session import cut_session
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration, Fitted
from flopwitness.estimate.conformal import UNBOUNDED, LogInterval
from flopwitness.estimate.predictors.linear import LinearState
from flopwitness.estimate.predictors.pipe_cycles import CalibratedPipeState, PipeSumState
from flopwitness.evaluate.evaluation import Evaluation
from flopwitness.evaluate.examples import Examples
from flopwitness.evaluate.protocols import Predictions, Protocol, SplitScores
from flopwitness.evaluate.splits import Split

START_NS = 1_795_999_032_000_000_000
"""2026-11-30 00:37:12 UTC."""

SECOND_NS = 1_000_000_000

RATIOS = {
    "linear-power": [0.5, 1.2, 1.3, 0.8],
    "mlp": [0.95, 1.1, 1.1, 0.9],
    "fused": [1.01, 0.99, 1.02, 1.0],
}
"""Estimate over truth of four workloads by three estimators: medians of 25, 10 and 1 %."""


def evaluation_of(
    ratios: Mapping[str, Sequence[float]] = RATIOS,
    *,
    protocol: Protocol = Protocol.RANDOM,
    target: Target = Target.ALGORITHMIC,
    workloads: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    nominal_ratio: float | None = 0.9,
) -> Evaluation:
    """Return one split that holds out all workloads but one; truths are 1, 2, ... x 1e15."""
    n_held_out = len(next(iter(ratios.values()), [1.0]))
    names = list(workloads or [f"w{number}" for number in range(n_held_out)])
    truth = 1e15 * np.arange(1.0, n_held_out + 1)
    examples = Examples(
        features=np.zeros((n_held_out + 1, 1)),
        feature_names=("energy_joules",),
        truth_flop=np.append(truth, 1e15),
        workloads=np.array([*names, "calibrated-on"]),
        families=np.array([*(families or ["dense"] * n_held_out), "dense"]),
        datasets=np.array(["node-a"] * (n_held_out + 1)),
        target=target,
    )
    predictions = {
        name: Predictions(
            truth * np.array(values), np.column_stack([truth * 0.9, truth * 1.1]), nominal_ratio
        )
        for name, values in ratios.items()
    }
    split = Split(np.array([n_held_out]), np.arange(n_held_out), "only")
    return Evaluation(protocol, examples, (SplitScores(split, 1, predictions),))


def scored_of(evaluation: Evaluation) -> Scored:
    """Return an evaluation summed up, with chance of a known seed."""
    key = (evaluation.protocol, evaluation.examples.target)
    return scored({key: evaluation}, rng=np.random.default_rng(0))[0]


def trace_of(
    uuid: str, *, n_samples: int = 100, channels: Mapping[str, Sequence[float]] | None = None
) -> Trace:
    """Return a sample a second; power climbs, half of the tensor cycles are active."""
    time_ns = START_NS + SECOND_NS * np.arange(n_samples)
    columns = channels or {
        "power_watts": 80 + np.arange(n_samples, dtype=float),
        "tensor_active_ratio": np.full(n_samples, 0.5),
        "nvlink_tx_bytes_total": 1e9 * np.arange(n_samples),
        "nvlink_rx_bytes_total": 2e9 * np.arange(n_samples),
    }
    return Trace(Device(uuid, chip="H200-SXM"), time_ns, columns)


def recording_of(name: str = "node-a", *traces: Trace, findings: tuple[Finding, ...] = ()) -> Recording:
    """Return a recording of two devices, unless traces are given."""
    given = traces or (trace_of("GPU-a"), trace_of("GPU-b"))
    return Recording(name, given, Provenance("fake", input_sha256="ab" * 32, driver="1.2"), findings)


def estimate_of(
    point_flop: float,
    *,
    method: str = "fused",
    target: Target = Target.ALGORITHMIC,
    most_flop: float = float("inf"),
) -> Estimate:
    """Return an estimate with bounds of 10 % on either side."""
    ends = 0.9 * point_flop, 1.1 * point_flop
    return Estimate(point_flop, *ends, 0.9, method, target, most_flop=most_flop)


def result_of(
    recording: Recording,
    start_seconds: int = 10,
    *,
    name: str = "first",
    estimates: Sequence[Estimate] = (),
    truth_flop: Mapping[Target, float | None] | None = None,
    findings: tuple[Finding, ...] = (),
) -> SessionResult:
    """Return a session of 20 s with what was said of it."""
    start_ns = START_NS + start_seconds * SECOND_NS
    by_target: dict[Target, dict[str, Estimate]] = {}
    for estimate in estimates:
        by_target.setdefault(estimate.target, {})[estimate.method] = estimate
    session = cut_session(recording.traces, start_ns, start_ns + 20 * SECOND_NS, name=name)
    return SessionResult(session, by_target, truth_flop, findings)


def calibration_of(**data: str) -> Calibration:
    """Return three fitted methods; the last without bounds."""
    fitted = {
        "linear-power": Fitted(LinearState(2.5e12, np.array([1.5])), LogInterval(-0.1, 0.2)),
        "pipe-cycles": Fitted(PipeSumState(), LogInterval(-0.2, 0.1)),
        "pipe-cycles-calibrated": Fitted(CalibratedPipeState(0.916, 0.035, 0.9, 0.97, 0.5), UNBOUNDED),
    }
    return Calibration("H200-SXM", "1.2", data, 12, 7, 0.9, {Target.ALGORITHMIC: fitted})


def content_of(name: str = "node-a", *, title: str = "A report") -> ReportContent:
    """Return a content with something in every section."""
    alarm = Finding("stalled", "GPU-a was busy and did nothing", Severity.ALARM, "GPU-a", START_NS)
    note = Finding("uuid-inferred", "the format keeps no UUID", Severity.NOTE)
    recording = recording_of(name, trace_of(f"{name}:0"), trace_of(f"{name}:1"), findings=(note,))
    first = result_of(
        recording,
        name=f"{name}-first",
        estimates=[estimate_of(2.02e15), estimate_of(3e15, method="linear-power")],
        truth_flop={Target.ALGORITHMIC: 2e15},
        findings=(alarm,),
    )
    evaluations = {
        (protocol, target): evaluation_of(protocol=protocol, target=target, families=[name, "b", "c", "d"])
        for protocol in (Protocol.RANDOM, Protocol.FOLDS)
        for target in Target
    }
    return ReportContent(
        title,
        {name: "cd" * 32},
        evaluations,
        calibration_of(other="ef" * 32),
        (recording,),
        {name: (first, result_of(recording, 50, name=""))},
    )


class OutlineDraw:
    """Fake: remembers the figures and gives an empty drawing for each."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []

    def __call__(self, figure: Figure) -> str:
        """Return an ``svg`` element without anything in it."""
        self.figures.append(figure)
        return "<svg></svg>"
