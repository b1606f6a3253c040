"""What each GPU showed, kept in bounded memory: fine for minutes, coarse for a day and for a week.

Each level is a ring of buckets of one width. A bucket holds how many samples answered, their sum, least and
most; one that nobody filled stays empty, so a gap is never a zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace

PLOTTED = (
    "power_watts",
    "tensor_active_ratio",
    "dram_active_ratio",
    "nvlink_bytes_per_second",
    "sm_clock_hertz",
)
"""Kept channels: board power (instant where there is one), NVLink both ways, the others as sampled."""

LEVELS = ((0.5, 1_800), (10.0, 9_360), (120.0, 5_760))
"""Seconds a bucket and number of buckets: 15 minutes, 26 hours, 8 days; 1.7 MB a GPU in all."""

STEPS_SECONDS = (
    0.5,
    1,
    2,
    5,
    10,
    20,
    30,
    60,
    120,
    240,
    600,
    1_200,
    1_800,
    3_600,
    7_200,
    14_400,
    43_200,
    86_400,
)
"""Steps that a curve can come in."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Curves of one GPU at even steps.

    Attributes
    ----------
    start_ns, step_ns : int
        First step, a multiple of the step since the Unix epoch; length of a step.
    mean, low, high : ndarray of shape (n_channels, n_steps), float64
        In the order of ``PLOTTED``; NaN where no sample answered.
    """

    start_ns: int
    step_ns: int
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class GpuHistory:
    """The history of one GPU."""

    def __init__(self) -> None:
        self._levels = tuple(_Level(round(width * NANOSECONDS_PER_SECOND), size) for width, size in LEVELS)
        self._tail: tuple[int, float] | None = None
        self.first_ns = self.last_ns = 0

    def push(self, piece: Trace) -> None:
        """Take samples; those that are not after the last one are left out."""
        fresh = piece.between(int(piece.time_ns.searchsorted(self.last_ns, side="right")), len(piece))
        if not len(fresh):
            return
        block = self._block(fresh)
        for level in self._levels:
            level.push(fresh.time_ns, block)
        self.first_ns = self.first_ns or int(fresh.time_ns[0])
        self.last_ns = int(fresh.time_ns[-1])

    def curves(self, start_ns: int, stop_ns: int, n_steps: int) -> Curves:
        """Return a stretch in at most about so many steps, from the finest level that reaches back so far.

        What no level holds any more, or nobody sampled, is NaN.
        """
        first_ns = max(start_ns, self.first_ns)
        last_ns = max(min(stop_ns, self.last_ns), first_ns)
        level = next((one for one in self._levels if one.reaches(first_ns, self.last_ns)), self._levels[-1])
        step_ns = _step_ns((stop_ns - start_ns) / n_steps, level.width_ns)
        return level.curves(max(first_ns, self.last_ns - level.span_ns), last_ns, step_ns)

    def _block(self, piece: Trace) -> NDArray[np.float64]:
        """Return the kept channels, shape (n_channels, n_samples)."""
        power = "power_instant_watts" if "power_instant_watts" in piece else "power_watts"
        columns = (piece.column(name) for name in (power, "tensor_active_ratio", "dram_active_ratio"))
        return np.stack([*columns, self._link_rate(piece), piece.column("sm_clock_hertz")])

    def _link_rate(self, piece: Trace) -> NDArray[np.float64]:
        """Return NVLink's bytes a second both ways: what counters grew by, else what the source says."""
        total = piece.column("nvlink_tx_bytes_total") + piece.column("nvlink_rx_bytes_total")
        if np.isnan(total).all():
            return piece.column("nvlink_tx_bytes_per_second") + piece.column("nvlink_rx_bytes_per_second")
        before_ns, before = self._tail or (int(piece.time_ns[0]) - 1, np.nan)
        seconds = np.diff(piece.time_ns, prepend=before_ns) / NANOSECONDS_PER_SECOND
        rate: NDArray[np.float64] = np.diff(total, prepend=before) / seconds
        self._tail = int(piece.time_ns[-1]), float(total[-1])
        return np.where(rate >= 0, rate, np.nan)  # a counter that fell was reset


class _Level:
    """A ring of buckets of one width; bucket n lies at n modulo the size."""

    def __init__(self, width_ns: int, size: int) -> None:
        self.width_ns, self._size = width_ns, size
        self._held = np.full(size, -1, dtype=np.int64)
        shape = (len(PLOTTED), size)
        # Written at once: zeros alone would be given their memory bit by bit, over a week.
        stats = [np.full(shape, 0.0, dtype=np.float32) for _ in range(4)]
        self._count, self._sum, self._low, self._high = stats

    @property
    def span_ns(self) -> int:
        return (self._size - 1) * self.width_ns

    def reaches(self, start_ns: int, last_ns: int) -> bool:
        return last_ns - start_ns <= self.span_ns

    def push(self, time_ns: NDArray[np.int64], block: NDArray[np.float64]) -> None:
        buckets = time_ns // self.width_ns
        first = int(buckets.searchsorted(buckets[-1] - self._size, side="right"))
        buckets, block = buckets[first:], block[:, first:]
        starts = np.flatnonzero(np.diff(buckets, prepend=-1))
        known = np.isfinite(block)
        slots = buckets[starts] % self._size
        fresh = self._held[slots] != buckets[starts]
        self._held[slots] = buckets[starts]
        for stat, values, fold, empty in (
            (self._count, known, np.add, 0.0),
            (self._sum, np.where(known, block, 0.0), np.add, 0.0),
            (self._low, np.where(known, block, np.inf), np.minimum, np.inf),
            (self._high, np.where(known, block, -np.inf), np.maximum, -np.inf),
        ):
            folded = fold.reduceat(values, starts, axis=1, dtype=np.float64)
            stat[:, slots] = fold(folded, np.where(fresh, empty, stat[:, slots]))

    def curves(self, start_ns: int, stop_ns: int, step_ns: int) -> Curves:
        each = step_ns // self.width_ns
        first, last = start_ns // step_ns, stop_ns // step_ns
        buckets = np.arange(first * each, (last + 1) * each)
        slots = buckets % self._size
        held = self._held[slots] == buckets
        shape = (len(PLOTTED), -1, each)
        count, total, low, high = (
            np.where(held, stat[:, slots], empty).astype(np.float64).reshape(shape)
            for stat, empty in (
                (self._count, 0.0), (self._sum, 0.0), (self._low, np.inf), (self._high, -np.inf)
            )
        )  # fmt: skip
        n_known = count.sum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = total.sum(axis=2) / n_known
        ends = (np.where(n_known > 0, end, np.nan) for end in (low.min(axis=2), high.max(axis=2)))
        return Curves(first * step_ns, step_ns, mean, *ends)


def _step_ns(least_ns: float, width_ns: int) -> int:
    """Return the smallest step of at least so long that is made of whole buckets."""
    steps: Sequence[int] = [round(seconds * NANOSECONDS_PER_SECOND) for seconds in STEPS_SECONDS]
    whole = [step for step in steps if step % width_ns == 0]
    return next((step for step in whole if step >= least_ns), whole[-1])
