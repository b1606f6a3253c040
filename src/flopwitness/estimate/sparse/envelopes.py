"""What the boards of a session can have done, from their pipes, from their energy, or from time alone."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from flopwitness.core.finding import Finding, Severity
from flopwitness.detect.dead import without_dead_samples
from flopwitness.detect.lost import without_lost_samples
from flopwitness.estimate.features.activity import MATRIX_PIPES, SUMMARY, pipe_work
from flopwitness.estimate.sparse import made
from flopwitness.estimate.sparse.boards import Board, Span
from flopwitness.estimate.sparse.made import Answer, Band, assumed, unavailable
from flopwitness.estimate.sparse.priors import (
    EVERY_FORMAT,
    SAME_DIE,
    NumberFormat,
    ShareRange,
    clock_share_range,
    formats_of,
    share_range,
    sheet_flop_per_joule,
    transfer_factor,
)
from flopwitness.physics.chip import Chip
from flopwitness.physics.formats import Pipe, Precision
from flopwitness.physics.pipes import (
    flop_per_cycle_per_sm,
    peak_flop_per_second,
    summed_flop_per_cycle_per_sm,
)

Formats = Iterable[NumberFormat]

CYCLE_WORTH = (0.6, 0.92)
"""Least and usual FLOP of an active matrix cycle over the full rate of its format, in training on H200s.

0.60 in TF32 (which makes three passes over attention) and 0.75 in a convolutional net are the least; 0.92
is the median. The most is 1: a pipe cannot do more than its rate, except with two-to-one sparsity.
"""

POWER_SIGNALS = ("energy_joules_total", "power_watts", "power_instant_watts")
MATRIX_SIGNALS = (*MATRIX_PIPES, *SUMMARY)
FREE_RATIO = 0.97
"""A clock below this share of boost without a limit that holds it was set by somebody, and tells nothing."""


def activity_envelope(boards: Sequence[Board], formats: Formats = EVERY_FORMAT) -> Answer:
    """Return what matrix pipes and clock say where no constant was fitted on the chip."""
    bands = [_activity_band(board, formats) for board in boards]
    known = [band for band in bands if band is not None]
    if len(known) < len(boards):
        return unavailable(made.ACTIVITY, "matrix-pipe activity or the clock is not known of every GPU")
    words = f"a matrix cycle in {_named(boards[0].chip, formats)} is worth {CYCLE_WORTH[0]:.0%} to 100 %"
    signals = ("sm_clock_hertz", *_present(boards, MATRIX_SIGNALS))
    return Answer(
        made.ACTIVITY, _added(known), signals, assumed(made.ACTIVITY, f"{words} of that format's rate")
    )


def power_envelope(boards: Sequence[Board], formats: Formats = EVERY_FORMAT) -> Answer:
    """Return what energy above idle says under the assumption of ordinary training."""
    if not all(board.net_joules.is_known for board in boards):
        return unavailable(made.POWER, "the energy of every GPU is not known")
    shares = [share_range(board.chip, formats) for board in boards]
    bands = [_board_band(board, share) for board, share in zip(boards, shares, strict=True)]
    words = _share_words(boards[0].chip, shares[0], formats)
    return Answer(made.POWER, _added(bands), _present(boards, POWER_SIGNALS), assumed(made.POWER, words))


def power_clock_envelope(boards: Sequence[Board], formats: Formats = EVERY_FORMAT) -> Answer:
    """Return the same, narrowed by how far a board at its limit had to clock down.

    Only for chips of the die that the relation was seen on, and only where the limit holds the clock.
    """
    if not all(board.net_joules.is_known and np.isfinite(board.clock_ratio) for board in boards):
        return unavailable(made.POWER_CLOCK, "energy and clock of every GPU are not known")
    if not all(_clock_speaks(board) for board in boards):
        return unavailable(made.POWER_CLOCK, "the clock is not held down by power, or the chip is another")
    shares = [clock_share_range(board.chip, board.clock_ratio, formats) for board in boards]
    bands = [_board_band(board, share) for board, share in zip(boards, shares, strict=True)]
    words = _share_words(boards[0].chip, shares[0], formats)
    clock = f"at {boards[0].clock_ratio:.0%} of the boost clock {words}"
    signals = ("sm_clock_hertz", *_present(boards, POWER_SIGNALS))
    return Answer(made.POWER_CLOCK, _added(bands), signals, assumed(made.POWER_CLOCK, clock))


def utilisation_ceiling(boards: Sequence[Board]) -> Answer:
    """Return what time with a kernel allows at most: a bound, because a spinning thread reads 100 % too."""
    most = sum(board.ceiling_flop for board in boards)
    seconds = sum(board.busy_seconds for board in boards)
    finding = Finding(
        "bound-only",
        f"{made.UTILISATION}: {seconds:.6g} GPU-seconds with a kernel, at the chip's ceiling: a bound, "
        "no estimate; utilisation is no evidence of work",
        Severity.WARNING,
        made.UTILISATION,
    )
    return Answer(
        made.UTILISATION, Band(0.0, 0.0, most, most), _present(boards, ("gpu_util_ratio",)), finding
    )


def energy_band(net: Span, share: ShareRange, *, chip: Chip, most: float) -> Band:
    """Return energy above idle at a range of shares of the sheet, never above a ceiling.

    The ends multiply: least energy at the least share, most at the most. Adding both widths as independent
    errors do would be narrower, but then less evidence of the least would lower the most, and who hides time
    could narrow his own interval (docs/adr/0006).
    """
    worth = sheet_flop_per_joule(chip)
    low, point, high = (
        min(joules * part * worth, most)
        for joules, part in zip((net.low, net.point, net.high), share, strict=True)
    )
    return Band(low, point, high, most)


def _board_band(board: Board, share: ShareRange) -> Band:
    return energy_band(board.net_joules, share, chip=board.chip, most=board.ceiling_flop)


def _activity_band(board: Board, formats: Formats) -> Band | None:
    chip = board.chip
    clean = without_dead_samples(without_lost_samples(board.steps.trace))
    steps = replace(board.steps, trace=clean)
    work = pipe_work(steps, chip)
    if not np.isfinite(work.matrix_flop) or not np.isfinite(work.observed_matrix_flop):
        return None
    slow, fast = _speeds(chip, formats)
    unseen = work.unobserved_seconds * board.ceiling_flop_per_second
    plain = work.observed_vector_flop
    if not np.isfinite(plain):  # nobody looked at the plain pipes: products could run there
        plain = board.busy_seconds * peak_flop_per_second(chip, Precision.FP32, pipe=Pipe.FP32)
    low = CYCLE_WORTH[0] * slow * work.observed_matrix_flop / transfer_factor(chip)
    high = fast * work.observed_matrix_flop + plain + unseen
    _, fastest = _speeds(chip, EVERY_FORMAT)
    beside = board.ceiling_flop * (1 - _tensor_part(chip))
    most = fastest * work.observed_matrix_flop + beside + unseen
    point = float(np.clip(CYCLE_WORTH[1] * work.matrix_flop, low, high))
    return Band(low, point, high, max(min(most, board.ceiling_flop), high))


def activity_ratio(chip: Chip, formats: Formats) -> float:
    """Return high over low of ``activity-envelope`` where plain pipes are seen and do little."""
    slow, fast = _speeds(chip, formats)
    return fast / (CYCLE_WORTH[0] * slow / transfer_factor(chip))


def _speeds(chip: Chip, formats: Formats) -> tuple[float, float]:
    """Return the rate of the slowest and the fastest of some formats on the matrix pipe, over 16-bit."""
    half = flop_per_cycle_per_sm(chip, Precision.FP16, pipe=Pipe.HMMA)
    names = {"half": "fp16", "fp8": "fp8", "tf32": "tf32", "fp32": "fp16"}
    wanted = {names[each.value] for each in formats_of(chip, formats)}
    every = set(formats) >= EVERY_FORMAT
    rates = [
        rate / half
        for (pipe, precision), rate in chip.flop_per_cycle_per_sm.items()
        if pipe is Pipe.HMMA and (every or precision.value in wanted)
    ]
    return min(rates), max(rates)


def _tensor_part(chip: Chip) -> float:
    """Return the share of the chip's ceiling that the matrix pipes make."""
    tensor = max(
        rate for (pipe, _), rate in chip.flop_per_cycle_per_sm.items() if pipe in (Pipe.HMMA, Pipe.IMMA)
    )
    return tensor / summed_flop_per_cycle_per_sm(chip)


def _clock_speaks(board: Board) -> bool:
    same_die = transfer_factor(board.chip) <= SAME_DIE
    return same_die and (board.is_at_limit or board.clock_ratio >= FREE_RATIO)


def _added(bands: Sequence[Band]) -> Band:
    return Band(*(float(sum(ends)) for ends in zip(*bands, strict=True)))


def _present(boards: Sequence[Board], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if all(name in board.steps.trace for board in boards))


def _named(chip: Chip, formats: Formats) -> str:
    return ", ".join(sorted(each.value for each in formats_of(chip, formats)))


def _share_words(chip: Chip, share: ShareRange, formats: Formats) -> str:
    return (
        f"ordinary training ({_named(chip, formats)}) makes {share.low:.3f} to {share.high:.2f} of the "
        f"sheet's {sheet_flop_per_joule(chip) / 1e12:.2f} TFLOP a joule above idle"
    )
