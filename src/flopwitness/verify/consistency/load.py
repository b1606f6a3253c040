"""Power against what activity predicts, and the matrix pipes against what everything else predicts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.estimate.predictors.state import PlainState
from flopwitness.verify.consistency.blocks import Blocks
from flopwitness.verify.consistency.deviation import Deviation
from flopwitness.verify.consistency.regression import Regression

POWER_CODE = "power-against-activity"
OPERANDS_CODE = "low-entropy-operands"
MATRIX_CODE = "matrix-against-signals"

PROGRAM_RATIO = 0.2
"""Twice what the matrix pipes of another program read too much (h200x2-a, -b by constants of others).

More matrix activity than predicted is a mere hint below this; less is what hiding work looks like.
"""

OPERANDS_RATIO = 0.25
"""From this much too little power on, operands are named: zeros save 40 %, noise and boards 15 % at most."""

WORDS = {
    POWER_CODE: "draws {} power than its activity predicts: {}other work, other operands or altered signals",
    OPERANDS_CODE: "draws {} power than its activity predicts: {}operands whose bits seldom change, such as "
    "zeros, or power readings lowered by as much",
    MATRIX_CODE: "shows its matrix pipes {} active than its power and other signals predict: {}another "
    "format, other work or altered signals",
}

IDLE_WATTS = 80.0
"""What an H200 draws with nothing to do, 77 to 82 W: power is judged above it."""

LOADED_WATTS = 150.0
"""Blocks that should draw this much above idle are judged; below, a lag of one sample decides."""

LOADED_MATRIX_RATIO = 0.05
"""Blocks whose matrix pipes should be active this share of the cycles are judged."""

POWER_WIDTHS = (1, 2, 4, 8, 16, 32)
MATRIX_WIDTHS = (8, 16, 32)
"""How many blocks in a row are added up before they are judged.

Short runs of one odd shape are no finding: over less than 24 s of load the matrix pipes go 40 % off on clean
recordings.
"""

N_MATRIX_TERMS = 2


class Residuals(NamedTuple):
    """What was seen less what was predicted, of the blocks that can be judged, and what was predicted."""

    blocks: Blocks
    residuals: NDArray[np.float64]
    expected: NDArray[np.float64]

    def summed_ratios(self, width: int) -> NDArray[np.float64]:
        """Return the relative residual of each ``width`` blocks in a row, shape (n_blocks - width + 1,)."""
        if len(self.residuals) < width:
            return np.empty(0)
        seen, predicted = (np.cumsum(np.append(0.0, part)) for part in (self.residuals, self.expected))
        ratio: NDArray[np.float64] = (seen[width:] - seen[:-width]) / (predicted[width:] - predicted[:-width])
        return ratio


@dataclass(frozen=True, slots=True, eq=False)
class LoadLimits(PlainState):
    """Largest relative residuals that pass.

    Attributes
    ----------
    power : ndarray of shape (len(POWER_WIDTHS),)
        Of power, over so many blocks.
    matrix : ndarray of shape (len(MATRIX_WIDTHS),)
        Of the matrix pipes, over so many blocks.
    """

    power: NDArray[np.float64]
    matrix: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Refuse limits for other widths."""
        if self.power.shape != (len(POWER_WIDTHS),) or self.matrix.shape != (len(MATRIX_WIDTHS),):
            raise ValueError(f"limits for {self.power.shape} and {self.matrix.shape} widths")


def power_residuals(blocks: Blocks, power: Regression) -> Residuals:
    """Return what the board drew above what activity predicts, in watts, over loaded and familiar blocks."""
    expected = power.predict(blocks.terms) - IDLE_WATTS
    drawn = blocks.watts - IDLE_WATTS
    judged = power.is_familiar(blocks.terms) & (np.maximum(expected, drawn) > LOADED_WATTS)
    scale = np.maximum(expected, LOADED_WATTS)
    return Residuals(blocks.chosen(judged), (drawn - expected)[judged], scale[judged])


def matrix_columns(blocks: Blocks) -> NDArray[np.float64]:
    """Return what the matrix pipes are predicted from: every other term, and power."""
    return np.column_stack([blocks.terms[:, N_MATRIX_TERMS:], blocks.watts])


def matrix_residuals(blocks: Blocks, matrix: Regression) -> Residuals:
    """Return the same for matrix-pipe activity x clock, predicted from every other signal."""
    columns = matrix_columns(blocks)
    expected = matrix.predict(columns)
    loaded = (expected > LOADED_MATRIX_RATIO) & (blocks.watts - IDLE_WATTS > LOADED_WATTS)
    judged = loaded & matrix.is_familiar(columns)
    return Residuals(blocks.chosen(judged), (blocks.terms[:, 0] - expected)[judged], expected[judged])


def load_deviations(
    blocks: Blocks, subject: str, *, power: Regression, matrix: Regression, limits: LoadLimits
) -> Iterator[Deviation]:
    """Compare power and matrix pipes with what the other signals predict.

    Parameters
    ----------
    blocks : Blocks
        Of one device.
    subject : str
        Its UUID.
    power, matrix : Regression
        Fitted on clean recordings of the chip.
    limits : LoadLimits
        Largest relative residuals that pass.
    """
    drawn, active = power_residuals(blocks, power), matrix_residuals(blocks, matrix)
    widths = zip(POWER_WIDTHS, limits.power.tolist(), strict=True)
    by_width = [
        each
        for width, limit in widths
        for each in _deviation(POWER_CODE, subject, drawn, width=width, limit=limit)
    ]
    if by_width:  # one code of the two: other widths say less of the same
        yield max(by_width, key=lambda each: each.score)
    for width, limit in zip(MATRIX_WIDTHS, limits.matrix.tolist(), strict=True):
        yield from _deviation(MATRIX_CODE, subject, active, width=width, limit=limit)


def _deviation(
    code: str, subject: str, judged: Residuals, *, width: int, limit: float
) -> Iterator[Deviation]:
    ratios = judged.summed_ratios(width)
    if width == 1:  # a block that work begins in may draw much more than its mean activity says, not less
        ratios = np.minimum(ratios, 0.0)
    if not len(ratios):
        return
    where = int(np.abs(ratios).argmax())
    amount = float(ratios[where])
    start_ns, stop_ns = int(judged.blocks.start_ns[where]), int(judged.blocks.stop_ns[where + width - 1])
    if code == POWER_CODE and amount < -OPERANDS_RATIO:
        code = OPERANDS_CODE
    change = f"{abs(amount):.0%} {'more' if amount > 0 else 'less'}"
    eight_bits = "an 8-bit format, " if code == POWER_CODE and amount > 0 else ""
    sentence = f"GPU {subject} {WORDS[code].format(change, eight_bits)}"
    is_hint = code == MATRIX_CODE and 0 < amount < PROGRAM_RATIO
    span = (start_ns, stop_ns)
    yield Deviation(code, subject, *span, abs(amount), limit, sentence, is_hint, is_explicable=True)
