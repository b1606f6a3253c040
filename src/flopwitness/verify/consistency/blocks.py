"""A trace in blocks of a few seconds: mean power, and mean activity in the terms that power depends on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.detect.lost import without_lost_samples
from flopwitness.physics.chips import chip_named

BLOCK_SECONDS = 3.0
"""Longer than the lags between sensors (0.2 s) and the averaging of power (1 s); shorter than most runs."""

MIN_STEPS = 8
"""A block holds at least this many steps of the sampler, or it says little about their mean."""

MIN_COVERED_RATIO = 0.8
"""Blocks that less of their time is known of are left out."""

ACTIVE = (
    "tensor_active_ratio",
    "dram_active_ratio",
    "fp32_active_ratio",
    "int_active_ratio",
    "sm_active_ratio",
    "sm_occupancy_ratio",
    "fp64_active_ratio",
    "fp16_active_ratio",
    "imma_active_ratio",
    "dfma_active_ratio",
)
"""Channels whose activity costs power; the first two can be told from the others."""

REQUIRED = (*ACTIVE[:2], "sm_active_ratio", "sm_clock_hertz", "energy_joules_total")
LINK = ("nvlink_tx_bytes_per_second", "nvlink_rx_bytes_per_second")
LINK_SCALE = 1e11
"""Brings link traffic to the size of a share, bytes a second."""

TERM_NAMES = (*(f"{name}:{power}" for name in (*ACTIVE, "nvlink") for power in (1, 3)), "temperature")
"""Terms of a block. Switching costs energy a cycle in proportion to the voltage squared, and voltage grows
with the clock: power goes with activity x clock at low clocks and with its third power at high ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Blocks of one trace that enough is known of.

    Attributes
    ----------
    start_ns, stop_ns : ndarray of shape (n_blocks,), int64
        First and last instant.
    terms : ndarray of shape (n_blocks, len(TERM_NAMES))
        Means of the terms.
    watts : ndarray of shape (n_blocks,)
        Mean power by the energy counter.
    """

    start_ns: NDArray[np.int64]
    stop_ns: NDArray[np.int64]
    terms: NDArray[np.float64]
    watts: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.watts)

    def chosen(self, which: NDArray[np.bool_]) -> "Blocks":
        """Return some of the blocks."""
        return Blocks(self.start_ns[which], self.stop_ns[which], self.terms[which], self.watts[which])


def blocks_of(trace: Trace) -> Blocks:
    """Cut a trace into blocks; none where a signal that power depends on is absent.

    Raises
    ------
    UnknownChipError
        When the device names a chip that nobody knows.
    """
    if len(trace) < MIN_STEPS or any(name not in trace for name in REQUIRED):
        empty = np.empty(0, dtype=np.int64)
        return Blocks(empty, empty, np.empty((0, len(TERM_NAMES))), np.empty(0))
    elapsed = trace.seconds()
    steps = np.diff(elapsed)
    block_seconds = max(BLOCK_SECONDS, MIN_STEPS * float(np.median(steps)))
    terms = _terms(without_lost_samples(trace))
    known = np.isfinite(terms).all(axis=0)
    joules = np.diff(trace["energy_joules_total"])
    counted = np.isfinite(joules)
    block_of = (elapsed[1:] // block_seconds).astype(np.int64)
    covered = np.bincount(block_of, weights=steps * known)
    counted_seconds = np.bincount(block_of, weights=steps * counted)
    kept = np.flatnonzero(np.minimum(covered, counted_seconds) >= MIN_COVERED_RATIO * block_seconds)
    means = [np.bincount(block_of, weights=np.where(known, term, 0.0) * steps)[kept] for term in terms]
    energy = np.bincount(block_of, weights=np.where(counted, joules, 0.0))[kept]
    first_ns = int(trace.time_ns[0])
    block_ns = round(block_seconds * NANOSECONDS_PER_SECOND)
    return Blocks(
        first_ns + kept * block_ns,
        first_ns + (kept + 1) * block_ns,
        np.stack(means, axis=1) / covered[kept, None],
        energy / counted_seconds[kept],
    )


def _terms(trace: Trace) -> NDArray[np.float64]:
    """Return the terms of each step, shape (n_terms, n_steps); an absent channel counts as never active."""
    boost_hertz = chip_named(trace.device.chip).boost_clock_hertz
    clock = trace["sm_clock_hertz"]
    speed = (clock[1:] + clock[:-1]) / 2 / boost_hertz
    still = np.zeros(len(trace) - 1)
    shares = [trace[name][1:] if name in trace else still for name in ACTIVE]
    links = [trace[name][1:] / LINK_SCALE for name in LINK if name in trace]
    shares.append(np.sum(links, axis=0) if links else still)
    rows = [share * speed**power for share in shares for power in (1, 3)]
    temperature = trace["temperature_celsius"][1:] if "temperature_celsius" in trace else still
    return np.stack([*rows, temperature])
