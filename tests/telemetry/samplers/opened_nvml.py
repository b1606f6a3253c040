"""Samplers of a fake NVML, with a clock that makes a step at each look."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path

from flopwitness.core.trace import Trace
from flopwitness.telemetry.samplers.nvml import NvmlSampler
from flopwitness.telemetry.samplers.nvml_signals import Cadence
from telemetry.samplers.fake_nvml import (
    FakeGpu,
    FakeNvml,
)

START_NS = 1_770_091_506_000_000_000
TICK_NS = 100_000_000
ALWAYS = Cadence(slow_seconds=0.0, costly_seconds=0.0)


def opened(folder: Path, *gpus: FakeGpu, cadence: Cadence = ALWAYS, step_ns: int = TICK_NS) -> NvmlSampler:
    """Open a sampler of fake GPUs whose clock makes a step at each look."""
    ticks = count(START_NS, step_ns)
    return NvmlSampler(
        FakeNvml(*gpus), cadence=cadence, host="n1", clock_ns=lambda: next(ticks), folder=folder
    )


def sampled(sampler: NvmlSampler, n_rounds: int) -> list[tuple[Trace, ...]]:
    """Ask some rounds and close."""
    answers = [sampler.sample() for _ in range(n_rounds)]
    sampler.close()
    return answers


def values(traces: Sequence[Trace]) -> dict[str, float]:
    """Return the values of the only trace."""
    (trace,) = traces
    return {name: float(column[0]) for name, column in trace.channels.items()}
