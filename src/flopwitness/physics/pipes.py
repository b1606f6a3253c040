"""What a chip can execute at most: pipes, clock and time. Knows no workload."""

import numpy as np
from numpy.typing import ArrayLike

from flopwitness.core.errors import FlopWitnessError
from flopwitness.physics.chip import Chip
from flopwitness.physics.formats import TENSOR_PIPES, Pipe, Precision

SPARSE_PIPES = frozenset({Pipe.HMMA, Pipe.IMMA})
"""Pipes that 2:4 sparsity speeds up, and that data sheets quote at ``datasheet_clock_hertz``."""


class UnsupportedFormatError(FlopWitnessError):
    """A number format, or a pipe for it, that the chip does not have."""


def flop_per_cycle_per_sm(
    chip: Chip, precision: Precision, *, sparse: bool = False, pipe: Pipe | None = None
) -> int:
    """Return how many operations of a format one SM can do in a cycle.

    Parameters
    ----------
    chip : Chip
        The chip.
    precision : Precision
        The format of the operands.
    sparse : bool
        Count the zeros that 2:4 sparsity skips, as a "with sparsity" peak does. No effect on pipes and chips
        that have no sparsity.
    pipe : Pipe, optional
        The pipe; the fastest one for this format where not given, which is a tensor pipe if there is one.

    Raises
    ------
    UnsupportedFormatError
        When the chip has no such pipe for the format.

    Examples
    --------
    >>> from flopwitness.physics.chips import CHIPS
    >>> flop_per_cycle_per_sm(CHIPS["H200-SXM"], Precision.BF16)
    4096
    """
    return max(_rates(chip, precision, sparse=sparse, pipe=pipe).values())


def peak_flop_per_second(
    chip: Chip, precision: Precision, *, sparse: bool = False, pipe: Pipe | None = None
) -> float:
    """Return the peak that the data sheet quotes, at the clock that it quotes it for.

    This is the divisor of a utilisation, not a bound: a chip may run above that clock. For a bound use
    ``ceiling_flop`` with the clock seen, or ``boost_clock_hertz`` where nobody looked. Parameters and errors
    are those of ``flop_per_cycle_per_sm``.

    Examples
    --------
    >>> from flopwitness.physics.chips import CHIPS
    >>> round(peak_flop_per_second(CHIPS["H100-SXM"], Precision.BF16) / 1e12, 1)
    989.4
    """
    found = _rates(chip, precision, sparse=sparse, pipe=pipe)
    return max(rate * _datasheet_clock_hertz(chip, owner) for owner, rate in found.items()) * chip.n_sm


def widest_flop_per_cycle_per_sm(chip: Chip, *, sparse: bool = False) -> int:
    """Return the rate of the widest format of any pipe: what one pipe can do where the format is unknown.

    The other pipes run at the same time; ``summed_flop_per_cycle_per_sm`` counts them as well.

    Examples
    --------
    >>> from flopwitness.physics.chips import CHIPS
    >>> [widest_flop_per_cycle_per_sm(CHIPS["H200-SXM"], sparse=sparse) for sparse in (False, True)]
    [8192, 16384]
    """
    return max(_widest_by_pipe(chip, sparse=sparse).values())


def summed_flop_per_cycle_per_sm(chip: Chip, *, sparse: bool = False) -> int:
    """Return a rate that an SM cannot exceed, whatever runs on it and in whichever formats.

    The widest tensor format plus the widest format of each plain pipe. Loose, since the pipes share the slots
    that issue instructions, but sound; integer operations are in it.

    Examples
    --------
    >>> from flopwitness.physics.chips import CHIPS
    >>> summed_flop_per_cycle_per_sm(CHIPS["H200-SXM"])
    9600
    """
    widest = _widest_by_pipe(chip, sparse=sparse)
    tensor = max(rate for pipe, rate in widest.items() if pipe in TENSOR_PIPES)
    return tensor + sum(rate for pipe, rate in widest.items() if pipe not in TENSOR_PIPES)


def ceiling_flop(
    n_sm: int, flop_per_cycle_per_sm: float, *, sm_clock_hertz: ArrayLike, step_seconds: ArrayLike
) -> float:
    r"""Return the most FLOP that one pipe of a device can have executed.

    .. math:: C_{max} = n_{SM} \, p \sum_i f_i \, \Delta t_i

    Parameters
    ----------
    n_sm : int
        Streaming multiprocessors switched on, > 0.
    flop_per_cycle_per_sm : float
        Width p of the pipe; of the widest one where the precision is unknown.
    sm_clock_hertz, step_seconds : array-like of shape (n_steps,)
        Clock during each step, the chip's highest where nobody looked; its length.

    Returns
    -------
    float
        Executed FLOP, an upper bound; a multiply-add counts as two. NaN where a clock is NaN.

    Notes
    -----
    Leaves out the other pipes, which run at the same time: take the summed rate to have them in.

    Examples
    --------
    >>> f"{ceiling_flop(132, 4096, sm_clock_hertz=[1.83e9], step_seconds=[1.0]):.3e}"
    '9.894e+14'
    """
    return active_flop(
        n_sm,
        flop_per_cycle_per_sm,
        active_ratio=1.0,
        sm_clock_hertz=sm_clock_hertz,
        step_seconds=step_seconds,
    )


def active_flop(
    n_sm: int,
    flop_per_cycle_per_sm: float,
    *,
    active_ratio: ArrayLike,
    sm_clock_hertz: ArrayLike,
    step_seconds: ArrayLike,
) -> float:
    r"""Return the FLOP of a pipe that was busy for a share of the cycles of each step.

    .. math:: C = n_{SM} \, p \sum_i a_i \, f_i \, \Delta t_i

    The share is one of cycles, not of time, so each step weighs by its own clock
    (github.com/NVIDIA/open-gpu-kernel-modules/issues/1122). Parameters are those of ``ceiling_flop``, and
    ``active_ratio``, 0 to 1, a number or an array of shape (n_steps,). NaN where an input is NaN.

    Examples
    --------
    >>> steps = {"sm_clock_hertz": [1.98e9, 0.345e9], "step_seconds": [1.0, 1.0]}
    >>> active_flop(1, 2, active_ratio=[0.5, 0.0], **steps)
    1980000000.0
    """
    busy_hertz = np.multiply(active_ratio, sm_clock_hertz)
    return n_sm * flop_per_cycle_per_sm * float(np.dot(busy_hertz, step_seconds))


def _datasheet_clock_hertz(chip: Chip, pipe: Pipe) -> float:
    return chip.datasheet_clock_hertz if pipe in SPARSE_PIPES else chip.datasheet_vector_clock_hertz


def _sparsity_factor(chip: Chip, pipe: Pipe, *, sparse: bool) -> int:
    return chip.sparsity_factor if sparse and pipe in SPARSE_PIPES else 1


def _rates(chip: Chip, precision: Precision, *, sparse: bool, pipe: Pipe | None) -> dict[Pipe, int]:
    found = {
        owner: rate * _sparsity_factor(chip, owner, sparse=sparse)
        for (owner, own), rate in chip.flop_per_cycle_per_sm.items()
        if own == precision and pipe in (None, owner)
    }
    if not found:
        on_pipe = f" on its {pipe} pipe" if pipe else ""
        raise UnsupportedFormatError(f"{chip.name} has no {precision}{on_pipe}")
    return found


def _widest_by_pipe(chip: Chip, *, sparse: bool) -> dict[Pipe, int]:
    widest: dict[Pipe, int] = {}
    for (pipe, _), rate in chip.flop_per_cycle_per_sm.items():
        widest[pipe] = max(widest.get(pipe, 0), rate * _sparsity_factor(chip, pipe, sparse=sparse))
    return widest
