"""One session as one row of named numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.detect.dead import without_dead_samples
from flopwitness.detect.lost import without_lost_samples
from flopwitness.estimate.features.activity import pipe_work, step_clock, tensor_ratio
from flopwitness.estimate.features.counters import counted
from flopwitness.estimate.features.energy import board_energy
from flopwitness.estimate.features.steps import DEFAULT_STEPS, StepRule, Steps, session_steps
from flopwitness.physics.chip import Chip
from flopwitness.physics.chips import chip_named
from flopwitness.physics.counters import EXCESS_RATIO
from flopwitness.physics.pipes import summed_flop_per_cycle_per_sm

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "duration_seconds": "length of the session",
        "net_energy_joules": "board energy above each board's own idle power",
        "dram_bytes": "busy share of the memory interface x peak bandwidth x time",
        "nvlink_bytes": "bytes sent and received over NVLink",
        "matrix_flop": "activity x clock x SMs x dense rate, summed over the matrix pipes",
        "integer_matrix_flop": "the part of it that ran on the integer matrix pipe",
        "double_matrix_flop": "the part of it that ran on the FP64 matrix pipe",
        "vector_flop": "the same, summed over the plain FP64, FP32 and FP16 pipes",
        "tensor_cycles": "cycles in which a tensor pipe was active, mean over the SMs",
        "fp32_cycles": "the same of the plain FP32 pipe",
        "int_cycles": "the same of the integer pipe",
        "sm_active_cycles": "cycles in which an SM held a warp, mean over the SMs",
        "occupancy_cycles": "cycles x share of the warp slots in use, mean over the SMs",
        "activity_unobserved_seconds": "device-seconds without an answer from a matrix or vector pipe",
        "power_unobserved_seconds": "device-seconds whose energy nobody saw",
        "unobserved_ceiling_flop": "the most that the unobserved device-seconds can have held",
        "observed_matrix_flop": "matrix_flop as if idle where a matrix or vector pipe gave no answer",
        "observed_vector_flop": "vector_flop as if idle where a matrix or vector pipe gave no answer",
        "observed_integer_matrix_flop": "integer_matrix_flop, likewise",
        "observed_double_matrix_flop": "double_matrix_flop, likewise",
    }
)
"""Name and meaning of each column; all are additive over devices, except ``duration_seconds``."""

FEATURE_NAMES = tuple(FEATURES)

CYCLES = {
    "fp32_cycles": "fp32_active_ratio",
    "int_cycles": "int_active_ratio",
    "sm_active_cycles": "sm_active_ratio",
    "occupancy_cycles": "sm_occupancy_ratio",
}
"""Columns that are cycles of one channel."""


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
        """Share of the device-seconds in which a matrix or vector pipe gave no answer, 0 to 1."""
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
    steps = session_steps(session, without_dead_samples(without_lost_samples(trace)), rule)
    clock = step_clock(steps)
    work = pipe_work(steps, chip)
    energy = board_energy(steps, chip)
    ceiling_flop_per_second = chip.n_sm * chip.boost_clock_hertz * summed_flop_per_cycle_per_sm(chip)
    values = {
        "net_energy_joules": energy.joules - idle * session.duration_seconds,
        "dram_bytes": _dram_bytes(steps, chip),
        "nvlink_bytes": _nvlink_bytes(steps, chip),
        "matrix_flop": work.matrix_flop,
        "integer_matrix_flop": work.integer_flop,
        "double_matrix_flop": work.double_flop,
        "vector_flop": work.vector_flop,
        "tensor_cycles": steps.integrated(tensor_ratio(steps) * clock).total,
        "activity_unobserved_seconds": work.unobserved_seconds,
        "power_unobserved_seconds": energy.unobserved_seconds,
        "unobserved_ceiling_flop": work.unobserved_seconds * ceiling_flop_per_second,
        "observed_matrix_flop": work.observed_matrix_flop,
        "observed_vector_flop": work.observed_vector_flop,
        "observed_integer_matrix_flop": work.observed_integer_flop,
        "observed_double_matrix_flop": work.observed_double_flop,
    }
    for name, channel in CYCLES.items():
        values[name] = steps.integrated(steps.mean_of(channel) * clock).total
    return values


def _dram_bytes(steps: Steps, chip: Chip) -> float:
    rate = steps.mean_of("dram_active_ratio") * chip.memory_bandwidth_bytes_per_second
    return steps.integrated(rate).total


def _nvlink_bytes(steps: Steps, chip: Chip) -> float:
    """Return bytes in both directions: by the counters, or the rates integrated where there is none."""
    directions = ("tx", "rx")
    if all(f"nvlink_{way}_bytes_total" in steps.trace for way in directions):
        most = (chip.nvlink_bytes_per_second or float("inf")) * EXCESS_RATIO
        return sum(
            counted(steps, f"nvlink_{way}_bytes_total", most_per_second=most).total for way in directions
        )
    return sum(steps.integrated(steps.mean_of(f"nvlink_{way}_bytes_per_second")).total for way in directions)
