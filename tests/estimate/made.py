"""Made-up traces and runs that the tests of this room share."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.core.device import Device
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.estimate.features.row import SessionFeatures, session_features
from flopwitness.physics.components import (
    FORMATS,
    block_share,
    replaced_by,
    step_components,
    step_flop_pair,
)

NAN = float("nan")
START_NS = 1_795_999_032_848_300_000
GPU_A = Device("GPU-a", chip="H200-SXM")
GPU_B = Device("GPU-b", chip="H200-SXM")

N_SM = 132
HMMA_FLOP_PER_CYCLE = N_SM * 4096
FP32_FLOP_PER_CYCLE = N_SM * 256
BOOST_HERTZ = 1.98e9
CEILING_FLOP_PER_SECOND = N_SM * BOOST_HERTZ * 9600
"""The widest tensor format, 8192 FLOP a cycle and SM, and all plain pipes beside it."""


def trace_of(
    seconds: Sequence[float] | NDArray[np.float64], device: Device = GPU_A, **channels: ArrayLike
) -> Trace:
    """Return a trace with samples at these seconds after ``START_NS``; single numbers are constant."""
    time_ns = START_NS + np.round(np.asarray(seconds) * 1e9).astype(np.int64)
    columns = {name: np.broadcast_to(values, time_ns.shape) for name, values in channels.items()}
    return Trace(device, time_ns, columns)


def every(step_seconds: float, n_samples: int) -> NDArray[np.float64]:
    """Return the instants of regular sampling."""
    return np.arange(n_samples) * step_seconds


def session_of(*traces: Trace, start: float | None = None, stop: float | None = None) -> Session:
    """Return a session between seconds after ``START_NS``; from first to last sample where not said."""
    first = min(int(trace.time_ns[0]) for trace in traces) if start is None else START_NS + round(start * 1e9)
    last = max(int(trace.time_ns[-1]) for trace in traces) if stop is None else START_NS + round(stop * 1e9)
    return Session(first, last, traces)


def features_of(*traces: Trace, idle_watts: float = NAN, **ends: float) -> SessionFeatures:
    """Return the features of a session made from traces."""
    idle = {trace.device.uuid: idle_watts for trace in traces}
    return session_features(session_of(*traces, **ends), idle)


BUSY = {
    "hmma_active_ratio": 0.4,
    "imma_active_ratio": 0.01,
    "dfma_active_ratio": 0.001,
    "tensor_active_ratio": 0.41,
    "fp64_active_ratio": 0.001,
    "fp32_active_ratio": 0.1,
    "fp16_active_ratio": 0.02,
    "int_active_ratio": 0.2,
    "sm_active_ratio": 0.9,
    "sm_occupancy_ratio": 0.2,
    "dram_active_ratio": 0.4,
}
"""What an H200 reads amid a training run, every channel of NVML GPM."""


def busy_trace(n_samples: int = 41, device: Device = GPU_A, **changed: object) -> Trace:
    """Return 0.1 s samples of steady work at 600 W, with counters."""
    seconds = every(0.1, n_samples)
    columns = {
        **BUSY,
        "sm_clock_hertz": 1.5e9,
        "power_watts": 600.0,
        "energy_joules_total": 1e9 + 600 * seconds,
        "nvlink_tx_bytes_total": 1e12 + 2e9 * seconds,
        "nvlink_rx_bytes_total": 2e12 + 3e9 * seconds,
        **changed,
    }
    return trace_of(seconds, device, **{name: value for name, value in columns.items() if value is not None})


class Runs(NamedTuple):
    """Made-up runs of known shape, with the columns of the fused estimate."""

    X: NDArray[np.float64]
    executed_flop: NDArray[np.float64]
    algorithmic_flop: NDArray[np.float64]
    components: NDArray[np.float64]

    @property
    def signals(self) -> NDArray[np.float64]:
        """The signature, shape (n_runs, 6)."""
        return self.X[:, 4:]

    @property
    def counts(self) -> NDArray[np.float64]:
        """The components without the shares of the formats, shape (n_runs, 8)."""
        return self.components[:, :8]

    def of(self, rows: slice) -> "Runs":
        """Return some of the runs."""
        return Runs(*(part[rows] for part in self))

    def with_more(self, more: "Runs") -> "Runs":
        """Return these runs and then others."""
        return Runs(*map(np.concatenate, zip(self, more, strict=True)))


RESPONSE = np.array(
    [
        [1.0 / (0.92 * HMMA_FLOP_PER_CYCLE), 14 / (0.75 * HMMA_FLOP_PER_CYCLE), 0, 0, 0, 0, 0, 0],
        [0, 0, 3e-3, 2e-3, 1e-3, 2e-3, 0, 1e-4],
        [1e-7, 2e-6, 1e-3, 1e-3, 1e-3, 1e-3, 1e-5, 5e-5],
        [0, 0, 0, 60, 20, 12, 10, 30],
        [
            1.0 / (0.8 * HMMA_FLOP_PER_CYCLE),
            14 / (0.6 * HMMA_FLOP_PER_CYCLE),
            1e-5,
            3e-3,
            2e-3,
            2e-3,
            2e-4,
            3e-4,
        ],
        [0.3 / HMMA_FLOP_PER_CYCLE, 5 / HMMA_FLOP_PER_CYCLE, 1e-5, 2e-3, 1e-3, 1e-3, 1e-4, 2e-4],
    ]
)
"""Made up: tensor, FP32 and integer cycles, DRAM bytes, SM and occupancy cycles a component.

Attention fills the tensor pipe less than other products do, which is what one constant cannot know.
"""

FP8_RESPONSE = np.array(
    [
        [0.5 / (0.92 * HMMA_FLOP_PER_CYCLE), 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 8e-3, 4e-3, 0, 4e-4, 0],
        [1e-7, 0, 0, 4e-3, 4e-3, 0, 2e-4, 0],
        [0, 0, 0, 60, 20, 0, 8, 0],
        [0.5 / (0.7 * HMMA_FLOP_PER_CYCLE), 0, 0, 6e-3, 3e-3, 0, 5e-4, 0],
        [0.2 / HMMA_FLOP_PER_CYCLE, 0, 0, 3e-3, 3e-3, 0, 3e-4, 0],
    ]
)
"""The same of what runs in FP8: half of the tensor cycles for each FLOP, and casts around the products."""


def simulated_runs(
    n_runs: int,
    *,
    seed: int = 0,
    head_widths: Sequence[int] = (128,),
    fp8_shares: tuple[float, float] = (0, 0),
) -> Runs:
    """Return runs whose signals are exactly the mixture that ``RESPONSE`` says.

    Of the linear FLOP of their blocks, a share between the two of ``fp8_shares`` runs as ``FP8_RESPONSE``
    says; the output head stays in half precision.
    """
    rng = np.random.default_rng(seed)
    head_width, n_heads = rng.choice(head_widths, n_runs), rng.integers(8, 33, n_runs)
    width = head_width * n_heads
    shapes = np.column_stack(
        [
            rng.choice([4, 8, 16, 32], n_runs),
            rng.choice([512, 1024, 2048], n_runs),
            width,
            rng.integers(4, 48, n_runs),
            width * rng.choice([2, 4, 8], n_runs),
            n_heads,
            rng.integers(0, 2, n_runs),
            np.full(n_runs, 32_000),
        ]
    ).astype(np.float64)
    n_steps = 2 * rng.integers(10, 100, n_runs)
    counts = step_components(shapes) * n_steps[:, None]
    executed, algorithmic = (flop * n_steps for flop in step_flop_pair(shapes))
    shares = np.zeros((n_runs, len(FORMATS)))
    shares[:, 0] = rng.uniform(*fp8_shares, n_runs) * block_share(shapes)
    return Runs(columns_of(counts, shares[:, :1]), executed, algorithmic, np.column_stack([counts, shares]))


def columns_of(counts: NDArray[np.float64], fp8_share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the two mixtures leave, nothing of it on the integer or the FP64 matrix pipe."""
    half = (counts * (1 - fp8_share * replaced_by("fp8"))) @ RESPONSE.T
    signals = half + (counts * fp8_share) @ FP8_RESPONSE.T
    pipes = signals[:, :2] * [HMMA_FLOP_PER_CYCLE, FP32_FLOP_PER_CYCLE]
    return np.column_stack([pipes, np.zeros_like(pipes), signals])


def energy_runs(n_runs: int, *, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return net energy, duration, DRAM and NVLink bytes, and FLOP that obey equation (1) exactly."""
    rng = np.random.default_rng(seed)
    flop = rng.uniform(1e15, 5e15, n_runs)
    duration, dram = rng.uniform(2, 6, n_runs), rng.uniform(1e12, 9e12, n_runs)
    nvlink = rng.uniform(1e10, 9e10, n_runs)
    energy = (flop + 1e13 * duration + 20 * dram + 30 * nvlink) / 1.2e12
    return np.column_stack([energy, duration, dram, nvlink]), flop
