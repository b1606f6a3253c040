"""One session as one row of named numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.estimate.features.counters import counted
from flopwitness.estimate.features.lost import without_lost_samples
from flopwitness.estimate.features.steps import DEFAULT_STEPS, Integral, StepRule, Steps, session_steps
from flopwitness.physics.chip import Chip
from flopwitness.physics.chips import chip_named
from flopwitness.physics.formats import Pipe, Precision
from flopwitness.physics.pipes import flop_per_cycle_per_sm, summed_flop_per_cycle_per_sm

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "duration_seconds": "length of the session",
        "net_energy_joules": "board energy above each board's own idle power",
        "dram_bytes": "busy share of the memory interface x peak bandwidth x time",
        "nvlink_bytes": "bytes sent and received over NVLink",
        "matrix_flop": "activity x clock x SMs x dense rate, summed over the matrix pipes",
        "vector_flop": "the same, summed over the plain FP64, FP32 and FP16 pipes",
        "tensor_cycles": "cycles in which a tensor pipe was active, mean over the SMs",
        "fp32_cycles": "the same of the plain FP32 pipe",
        "int_cycles": "the same of the integer pipe",
        "sm_active_cycles": "cycles in which an SM held a warp, mean over the SMs",
        "occupancy_cycles": "cycles x share of the warp slots in use, mean over the SMs",
        "activity_unobserved_seconds": "device-seconds without an answer from the matrix pipes",
        "power_unobserved_seconds": "device-seconds whose energy nobody saw",
        "unobserved_ceiling_flop": "the most that the unobserved device-seconds can have held",
    }
)
"""Name and meaning of each column; all are additive over devices, except ``duration_seconds``."""

FEATURE_NAMES = tuple(FEATURES)

MATRIX_PIPES = {
    "hmma_active_ratio": (Pipe.HMMA, Precision.BF16),
    "imma_active_ratio": (Pipe.IMMA, Precision.INT8),
    "dfma_active_ratio": (Pipe.DMMA, Precision.FP64),
}
"""Matrix pipes and the format that each is counted at: 16-bit for HMMA, which also runs TF32 and FP8."""

VECTOR_PIPES = {
    "fp64_active_ratio": (Pipe.FP64, Precision.FP64),
    "fp32_active_ratio": (Pipe.FP32, Precision.FP32),
    "fp16_active_ratio": (Pipe.FP16, Precision.FP16),
}
CYCLES = {
    "fp32_cycles": "fp32_active_ratio",
    "int_cycles": "int_active_ratio",
    "sm_active_cycles": "sm_active_ratio",
    "occupancy_cycles": "sm_occupancy_ratio",
}


@dataclass(frozen=True, slots=True, eq=False)
class SessionFeatures:
    """What estimators see of a session; NaN where a signal is absent.

    Attributes
    ----------
    values : mapping of str to float
        One entry for each of ``FEATURES``.
    signals : tuple of str
        Channels that were present on every device.
    chips : tuple of str
        Chip of each device.
    n_devices : int
        How many devices the session has.
    """

    values: Mapping[str, float]
    signals: tuple[str, ...]
    chips: tuple[str, ...]
    n_devices: int

    def row(self) -> NDArray[np.float64]:
        """Return the values in the order of ``FEATURE_NAMES``, shape (n_features,)."""
        return np.array([self.values[name] for name in FEATURE_NAMES])

    @property
    def unobserved_ratio(self) -> float:
        """Share of the device-seconds in which the matrix pipes gave no answer, 0 to 1."""
        device_seconds = self.n_devices * self.values["duration_seconds"]
        return min(self.values["activity_unobserved_seconds"] / device_seconds, 1.0)


def session_features(
    session: Session, idle_watts: Mapping[str, float], *, rule: StepRule = DEFAULT_STEPS
) -> SessionFeatures:
    """Turn a session into one row of numbers.

    Parameters
    ----------
    session : Session
        The stretch and its samples.
    idle_watts : mapping of str to float
        Idle power of each device by UUID, in watts; NaN or absent where it was never seen idle, which
        makes ``net_energy_joules`` NaN.
    rule : StepRule
        What counts as a gap.

    Raises
    ------
    UnknownChipError
        When a device names a chip that ``flopwitness.physics.chips`` does not know.
    """
    rows = [
        _device_values(session, trace, idle_watts.get(trace.device.uuid, float("nan")), rule)
        for trace in session.traces
    ]
    values = {name: float(sum(row[name] for row in rows)) for name in rows[0]}
    values["duration_seconds"] = session.duration_seconds
    shared = set.intersection(*(set(trace.channels) for trace in session.traces))
    return SessionFeatures(
        MappingProxyType(values),
        tuple(sorted(shared)),
        tuple(trace.device.chip for trace in session.traces),
        len(session.traces),
    )


def _device_values(session: Session, trace: Trace, idle: float, rule: StepRule) -> dict[str, float]:
    chip = chip_named(trace.device.chip)
    steps = session_steps(session, without_lost_samples(trace), rule)
    clock = _step_clock(steps)
    tensor = steps.integrated(_tensor_ratio(steps) * clock)
    energy = _energy(steps)
    values = {
        "net_energy_joules": energy.total - idle * session.duration_seconds,
        "dram_bytes": _dram_bytes(steps, chip),
        "nvlink_bytes": _nvlink_bytes(steps),
        "matrix_flop": _pipe_flop(steps, clock, chip, MATRIX_PIPES),
        "vector_flop": _pipe_flop(steps, clock, chip, VECTOR_PIPES),
        "tensor_cycles": tensor.total,
        "activity_unobserved_seconds": tensor.unobserved_seconds,
        "power_unobserved_seconds": energy.unobserved_seconds,
        "unobserved_ceiling_flop": tensor.unobserved_seconds
        * chip.n_sm
        * chip.boost_clock_hertz
        * summed_flop_per_cycle_per_sm(chip),
    }
    for name, channel in CYCLES.items():
        values[name] = steps.integrated(steps.mean_of(channel) * clock).total
    return values


def _step_clock(steps: Steps) -> NDArray[np.float64]:
    """Return the clock in the middle of each step, from the readings around it; NaN without a clock."""
    clock = steps.trace.column("sm_clock_hertz")
    known = np.isfinite(clock)
    if not known.any():
        return np.full(len(steps.weight_seconds), np.nan)
    return np.interp(steps.middles_seconds(), steps.trace.seconds()[known], clock[known])


def _tensor_ratio(steps: Steps) -> NDArray[np.float64]:
    """Return the share of cycles with any matrix pipe active: the summary channel, or the pipes added up."""
    if "tensor_active_ratio" in steps.trace:
        return steps.mean_of("tensor_active_ratio")
    pipes: NDArray[np.float64] = np.stack([steps.mean_of(channel) for channel in MATRIX_PIPES]).sum(axis=0)
    return pipes


def _pipe_flop(
    steps: Steps,
    clock: NDArray[np.float64],
    chip: Chip,
    pipes: Mapping[str, tuple[Pipe, Precision]],
) -> float:
    """Sum FLOP over the pipes that the source tells apart; the tensor summary stands in for matrix pipes."""
    total = 0.0
    offered = {channel: kind for channel, kind in pipes.items() if channel in steps.trace}
    if not offered and pipes is MATRIX_PIPES:
        offered = {"tensor_active_ratio": MATRIX_PIPES["hmma_active_ratio"]}
    for channel, (pipe, precision) in offered.items():
        if (pipe, precision) in chip.flop_per_cycle_per_sm:
            rate = flop_per_cycle_per_sm(chip, precision, pipe=pipe)
            total += chip.n_sm * rate * steps.integrated(steps.mean_of(channel) * clock).total
    return total if offered else float("nan")


def _energy(steps: Steps) -> Integral:
    """Return the energy of the stretch: by the counter, or the power integrated where there is none."""
    if np.isfinite(steps.trace.column("energy_joules_total")).sum() > 1:
        return counted(steps, "energy_joules_total")
    power = steps.trace.column("power_watts")
    return steps.integrated((power[1:] + power[:-1]) / 2)


def _dram_bytes(steps: Steps, chip: Chip) -> float:
    rate = steps.mean_of("dram_active_ratio") * chip.memory_bandwidth_bytes_per_second
    return steps.integrated(rate).total


def _nvlink_bytes(steps: Steps) -> float:
    """Return bytes in both directions: by the counters, or the rates integrated where there is none."""
    directions = ("tx", "rx")
    if all(f"nvlink_{way}_bytes_total" in steps.trace for way in directions):
        return sum(counted(steps, f"nvlink_{way}_bytes_total").total for way in directions)
    return sum(steps.integrated(steps.mean_of(f"nvlink_{way}_bytes_per_second")).total for way in directions)
