"""Recordings that others published, scored where a folder holds them: an extra that nothing depends on."""

import json
from collections.abc import Iterator
from gzip import open as gzip_open
from pathlib import Path

from flopwitness.app.opening import open_recording
from flopwitness.app.witnessing import detected_sessions, witnessed
from flopwitness.core.recording import Recording
from flopwitness.core.session import cut_session
from flopwitness.core.workload import Target
from flopwitness.estimate.sparse.answering import Assumptions

NODES = {
    "llama2_70b_lora": ("llama2_70b_lora-power-node_0.txt.gz", "llama2_70b_lora-log.txt.gz", 8.8e18),
    "resnet": ("resnet-power-node_1.txt.gz", "resnet-log.txt.gz", 1.10e18),
}
"""MLPerf training results v4.0: eight H100 SXM behind one meter, the run log, executed FLOP of the run."""

WANDB = ("wandb-w7900/run-3itzjfxt.system_events.jsonl", 1763323612700000000, 1763327316300000000, 5.6e16)
CSVS = ("nanogpt-8xh100/idle-train-idle.csv.gz", "nanogpt-8xh100/power-filling.csv.gz")


def public_lines(folder: Path) -> Iterator[str]:
    """Yield a line a recording: what was found, with bounds, and whether they hold the truth."""
    for name, (power, log, truth) in NODES.items():
        recording = open_recording(folder / "mlperf-v4.0-8xh100" / power, chip="H100-SXM")
        span = _run_span(folder / "mlperf-v4.0-8xh100" / log)
        yield from _scored(name, recording, span, truth, assumed=Assumptions(8))
    path, start_ns, stop_ns, truth = WANDB
    recording = open_recording(folder / path, chip="Radeon-Pro-W7900")
    yield from _scored("wandb", recording, (start_ns, stop_ns), truth, assumed=Assumptions())
    for path in CSVS:
        yield from _found(path, open_recording(folder / path, chip="H100-SXM"))


def _scored(
    name: str, recording: Recording, span: tuple[int, int], truth: float, *, assumed: Assumptions
) -> Iterator[str]:
    working = tuple(trace for trace in recording.traces if trace.device.chip != "unknown")[:1]
    session = cut_session(working, *span, name=name)
    (answer,) = witnessed(recording, [session], None, assumed)
    for target, by_name in answer.estimates.items():
        for method, one in by_name.items():
            ratio = one.high_flop / one.low_flop if one.low_flop else float("inf")
            verdict = "inside" if one.contains(truth) else "OUTSIDE"
            yield (
                f"{name}, {target}, {method}: {one.low_flop:.3g} to {one.high_flop:.3g} (x {ratio:.3g}), "
                f"at most {one.most_flop:.3g}; truth {truth:.3g}: {verdict}"
            )


def _found(name: str, recording: Recording) -> Iterator[str]:
    sessions = detected_sessions(recording)
    for answer in witnessed(recording, sessions, None):
        one = answer.estimates[Target.EXECUTED]["power-envelope"]
        codes = ", ".join(sorted({finding.code for finding in answer.findings}))
        yield (
            f"{name}: {len(sessions)} workload(s), {answer.session.duration_seconds:.0f} s on "
            f"{len(answer.session.traces)} GPUs, {one.low_flop:.3g} to {one.high_flop:.3g}; {codes}"
        )


def _run_span(log: Path) -> tuple[int, int]:
    """Return when a run began and ended, UTC nanoseconds, by its MLLOG lines."""
    stamps = {}
    with gzip_open(log, "rt", encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line[line.index("{") :])
            if event["key"] in {"run_start", "run_stop"}:
                stamps[event["key"]] = event["time_ms"] * 1_000_000
    return stamps["run_start"], stamps["run_stop"]
