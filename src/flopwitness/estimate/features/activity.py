"""What the arithmetic pipes did in a session: cycles at full rate, and how much of the time they answered."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.estimate.features.steps import Steps
from flopwitness.physics.chip import Chip
from flopwitness.physics.formats import Pipe, Precision
from flopwitness.physics.pipes import flop_per_cycle_per_sm

PipeFormats = Mapping[str, tuple[Pipe, Precision]]

MATRIX_PIPES: PipeFormats = {
    "hmma_active_ratio": (Pipe.HMMA, Precision.FP16),
    "imma_active_ratio": (Pipe.IMMA, Precision.INT8),
    "dfma_active_ratio": (Pipe.DMMA, Precision.FP64),
}
"""Matrix pipes and the format that each is counted at.

FP16 for HMMA, which also runs BF16 at the same rate, TF32 and FP8; Volta has FP16 alone.
"""

HALF_PIPE = "hmma_active_ratio"
"""The pipe of nearly all matrix work in AI."""

INTEGER_PIPE: PipeFormats = {"imma_active_ratio": MATRIX_PIPES["imma_active_ratio"]}
DOUBLE_PIPE: PipeFormats = {"dfma_active_ratio": MATRIX_PIPES["dfma_active_ratio"]}
"""The two that have a counter, and so a constant, of their own."""

SUMMARY: PipeFormats = {"tensor_active_ratio": (Pipe.HMMA, Precision.FP16)}
"""Stands in for the matrix pipes where a source does not tell them apart."""

VECTOR_PIPES: PipeFormats = {
    "fp64_active_ratio": (Pipe.FP64, Precision.FP64),
    "fp32_active_ratio": (Pipe.FP32, Precision.FP32),
    "fp16_active_ratio": (Pipe.FP16, Precision.FP16),
}


class PipeWork(NamedTuple):
    """FLOP of the pipes at full rate; NaN for a kind of pipe that was never seen.

    ``integer_flop`` and ``double_flop`` are those parts of ``matrix_flop`` that ran on the integer and on the
    FP64 matrix pipe. They, ``matrix_flop`` and ``vector_flop`` carry the seen rates over into unseen steps.
    The observed ones count nothing there, and a step counts as seen only where every pipe that the source
    offers answered: less evidence can only lower them, and only raise ``unobserved_seconds``.
    """

    matrix_flop: float
    vector_flop: float
    observed_matrix_flop: float
    observed_vector_flop: float
    unobserved_seconds: float
    integer_flop: float
    double_flop: float
    observed_integer_flop: float
    observed_double_flop: float


def pipe_work(steps: Steps, chip: Chip) -> PipeWork:
    """Add up what the pipes of one device did in a session."""
    # Without HMMA the small pipes say nothing of the rest: what they leave out would count as 0.
    matrix = _flop_rate(steps, chip, MATRIX_PIPES if HALF_PIPE in steps.trace else SUMMARY)
    vector = _flop_rate(steps, chip, VECTOR_PIPES)
    unknown = np.full(len(steps.weight_seconds), np.nan)
    offered = [rate for rate in (matrix, vector) if rate is not None] or [unknown]
    seen = np.isfinite(sum(offered)) & ~steps.is_gap
    apart = (_flop_rate(steps, chip, pipe) for pipe in (INTEGER_PIPE, DOUBLE_PIPE))
    rates = (matrix, vector, *(_part_of(matrix, rate) for rate in apart))
    observed = [
        float("nan") if rate is None else steps.summed(np.where(seen, np.nan_to_num(rate), 0.0))
        for rate in rates
    ]
    carried = [steps.integrated(unknown if rate is None else rate).total for rate in rates]
    unseen_seconds = float(steps.weight_seconds[~seen].sum()) + steps.uncovered_seconds
    matrix_seen, vector_seen, integer_seen, double_seen = observed
    return PipeWork(
        matrix_flop=carried[0],
        vector_flop=carried[1],
        observed_matrix_flop=matrix_seen,
        observed_vector_flop=vector_seen,
        unobserved_seconds=unseen_seconds,
        integer_flop=carried[2],
        double_flop=carried[3],
        observed_integer_flop=integer_seen,
        observed_double_flop=double_seen,
    )


def step_clock(steps: Steps) -> NDArray[np.float64]:
    """Return the clock in the middle of each step, hertz, shape (n_steps,); NaN beside a blank reading."""
    clock = steps.trace.column("sm_clock_hertz")
    middle: NDArray[np.float64] = (clock[1:] + clock[:-1]) / 2
    return middle


def tensor_ratio(steps: Steps) -> NDArray[np.float64]:
    """Return the share of cycles with any matrix pipe active: the summary channel, or the pipes added up."""
    if "tensor_active_ratio" in steps.trace:
        return steps.mean_of("tensor_active_ratio")
    pipes: NDArray[np.float64] = np.stack([steps.mean_of(channel) for channel in MATRIX_PIPES]).sum(axis=0)
    return pipes


def _part_of(
    whole: NDArray[np.float64] | None, part: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Return a part where the whole is known; carried over without it, a part could come out larger."""
    return None if whole is None or part is None else np.where(np.isnan(whole), np.nan, part)


def _flop_rate(steps: Steps, chip: Chip, pipes: PipeFormats) -> NDArray[np.float64] | None:
    """Return FLOP per second of each step, over the pipes that the source offers; None without any."""
    offered = {channel: kind for channel, kind in pipes.items() if channel in steps.trace}
    if not offered:
        return None
    cycles_per_second = chip.n_sm * step_clock(steps)
    rate = np.zeros_like(cycles_per_second)
    for channel, (pipe, precision) in offered.items():
        if (pipe, precision) in chip.flop_per_cycle_per_sm:
            width = flop_per_cycle_per_sm(chip, precision, pipe=pipe)
            rate += width * steps.mean_of(channel) * cycles_per_second
    return rate
