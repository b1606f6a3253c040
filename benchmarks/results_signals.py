"""What the signals themselves say, estimators apart; prints it as JSON.

Three questions that an error table leaves open: how much a board at its power cap still tells, what equation
(1) makes of memory and links on these boards, and what a slower sampler loses inside a run, away from its
ends.
"""

import json
import sys
from collections.abc import Iterable, Sequence

import numpy as np
from results_cases import INTERVALS, NODES, ROOT

from flopwitness.app.calibrating import calibrated
from flopwitness.app.examples import run_features
from flopwitness.app.opening import open_dataset
from flopwitness.core.dataset import Dataset
from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Run, Target
from flopwitness.estimate.features.row import session_features
from flopwitness.estimate.methods import METHODS
from flopwitness.evaluate.cadence import MEANS, sampled_every

SOFTWARE_POWER_CAP = 4
"""Bit of the throttle reasons: NVML API reference, ``nvmlClocksEventReasonSwPowerCap``."""

LINEAR = tuple(name for name in METHODS if name.startswith("linear-"))
PUBLISHED_UNITS = {"duration_seconds": "overhead_watts", "dram_bytes": "joules_per_dram_terabyte"} | {
    "nvlink_bytes": "joules_per_nvlink_terabyte"
}
TERA = 1e12
INSIDE_SECONDS = 0.4
"""Left out at either end of a run: sensors trail the work by up to 0.2 s, and a step may straddle the end."""


def signals() -> dict[str, object]:
    """Return everything, by node."""
    opened = {node: [open_dataset(ROOT / path) for path in paths] for node, paths in NODES.items()}
    return {
        "power": {node: power_of(datasets) for node, datasets in opened.items()},
        "equation": {node: equation_of(datasets) for node, datasets in opened.items()},
        "inside": [inside_of(opened["a"], interval) for interval in INTERVALS],
    }


def power_of(datasets: Iterable[Dataset]) -> list[dict[str, object]]:
    """Return each workload's mean board power, its share of samples at the cap and its true FLOP per second.

    Medians over the traces of a workload; power and FLOP per second are of one GPU, FLOP are executed.
    """
    rows: dict[str, list[tuple[float, float, float]]] = {}
    families: dict[str, str] = {}
    for dataset in datasets:
        for run in dataset.runs:
            if run.truth.executed_flop is not None:
                rows.setdefault(run.config.name, []).append(_power(dataset, run, run.truth.executed_flop))
                families[run.config.name] = run.config.family
    names = ("board_watts", "capped_ratio", "flop_per_second")
    return [
        {"name": name, "family": families[name], **dict(zip(names, np.median(found, axis=0), strict=True))}
        for name, found in sorted(rows.items())
    ]


def _power(dataset: Dataset, run: Run, flop: float) -> tuple[float, float, float]:
    traces = [trace.within(run.start_ns, run.stop_ns) for trace in dataset.recording.traces]
    watts = np.mean([np.nanmean(trace["power_instant_watts"]) for trace in traces])
    capped = np.mean(
        [np.mean(trace["throttle_reasons_mask"].astype(int) & SOFTWARE_POWER_CAP > 0) for trace in traces]
    )
    seconds = (run.stop_ns - run.start_ns) / 1e9
    return float(watts), float(capped), flop / seconds / len(traces)


def equation_of(datasets: Sequence[Dataset]) -> dict[str, object]:
    """Return the constants of equation (1) in the published units, and how links go with memory."""
    fitted = calibrated(datasets, [Target.ALGORITHMIC], methods=LINEAR).for_target(Target.ALGORITHMIC)
    features = [
        (run, found.values)
        for dataset in datasets
        for run, found in zip(dataset.runs, run_features(dataset), strict=True)
    ]
    dram, nvlink = (np.array([row[name] for _, row in features]) for name in ("dram_bytes", "nvlink_bytes"))
    gradients = np.array([_gradient_bytes(run) for run, _ in features])
    return {
        "fits": {name: _constants(name, fitted[name].state) for name in LINEAR},
        "link_memory_correlation": float(np.corrcoef(dram, nvlink)[0, 1]),
        "link_bytes_per_gradient_byte": np.quantile(nvlink / gradients, [0.05, 0.5, 0.95]).tolist(),
    }


def _constants(name: str, state: object) -> dict[str, float]:
    """Return joules per TFLOP, per TB and per second of overhead."""
    per_joule, debits = state.flop_per_joule, state.debits  # type: ignore[attr-defined]
    units = [PUBLISHED_UNITS[column] for column in METHODS[name].columns[1:]]
    scales = [TERA if "terabyte" in unit else 1.0 for unit in units]
    costs = {
        unit: float(debit / per_joule * scale)
        for unit, debit, scale in zip(units, debits, scales, strict=True)
    }
    return {"joules_per_teraflop": float(TERA / per_joule), **costs}


def _gradient_bytes(run: Run) -> float:
    """Return what a ring all-reduce of FP32 gradients on two GPUs moves: 16 bytes a parameter and step."""
    found = run.config.integers("params", "steps")
    return 16.0 * found[0] * found[1] if found else float("nan")


def inside_of(datasets: Iterable[Dataset], interval_seconds: float) -> dict[str, float]:
    """Compare the pipe cycles of one stretch inside each run, sampled at this interval and as recorded.

    Both ends of a stretch stand on a kept sample inside the run, so that no step straddles an end. Compared
    once more with the clock as recorded: what is left then is not the clock's doing.
    """
    pairs = [_inside_ratios(dataset, run, interval_seconds) for dataset in datasets for run in dataset.runs]
    signed = np.array([pair for pair in pairs if pair is not None]) - 1
    absolute = np.abs(signed)
    middle = np.median(absolute, axis=0)
    return {
        "interval_seconds": interval_seconds,
        "n_runs": len(signed),
        "median_signed_difference_ratio": float(np.median(signed[:, 0])),
        "median_abs_difference_ratio": float(middle[0]),
        "p90_abs_difference_ratio": float(np.quantile(absolute[:, 0], 0.9)),
        "largest_abs_difference_ratio": float(absolute[:, 0].max()),
        "median_abs_difference_with_recorded_clock_ratio": float(middle[1]),
    }


def _inside_ratios(dataset: Dataset, run: Run, interval_seconds: float) -> tuple[float, float] | None:
    fast = dataset.recording.traces
    slow = sampled_every(dataset.recording, interval_seconds=interval_seconds).traces
    margin_ns = round(INSIDE_SECONDS * 1e9)
    inside = slow[0].within(run.start_ns + margin_ns, run.stop_ns - margin_ns).time_ns
    if len(inside) < 2:
        return None
    stretch = int(inside[0]), int(inside[-1])
    mixed = tuple(_with_means_of(*pair) for pair in zip(fast, slow, strict=True))
    recorded, slower, clocked = (_matrix_flop(cut_session(one, *stretch)) for one in (fast, slow, mixed))
    return slower / recorded, clocked / recorded


def _with_means_of(fast: Trace, slow: Trace) -> Trace:
    """Return the recorded trace with its means replaced by those of the longer steps around them."""
    step_of = np.minimum(np.searchsorted(slow.time_ns, fast.time_ns), len(slow) - 1)
    means = {name: slow[name][step_of] for name in slow.channels if name in MEANS}
    return Trace(fast.device, fast.time_ns, {**fast.channels, **means})


def _matrix_flop(session: Session) -> float:
    return session_features(session, {}).values["matrix_flop"]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(signals(), indent=1) + "\n")
