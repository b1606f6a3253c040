"""Evidence that a session continues another: log-likelihood ratios, each with its reason in plain words."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, log10, sqrt
from statistics import fmean, median

import numpy as np

from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.detect.jobs.likeness import Likeness
from flopwitness.detect.jobs.mark import Mark
from flopwitness.detect.jobs.memory import MemoryRuns
from flopwitness.detect.jobs.signature import SIGNALS

LIKENESS = Likeness(
    scales=(0.0190, 0.0205, 0.0100, 0.0100, 0.0137, 0.0281, 0.0100, 0.0247, 0.0103, 0.0100, 0.0349, 0.1),
    even_distance=2.64,
    steepness=4.16,
)
"""``evaluate.likeness.fitted_likeness`` of the benign sweeps on two nodes of H200s, h200x2-a and h200x2-b.

The cuts are chosen: steps alone never say more than 55 to 1 for one run, nor 400 to 1 against.
"""

FITTED_SECONDS = 2.6
"""Length of what ``LIKENESS`` was fitted on, halves of runs; the noise of shorter sessions is larger."""

PRIOR = -1.5
"""Log odds before any evidence: two sessions on a GPU are more often two jobs.

Chosen so that of 89 neighbours on nodes a and b, where memory was not read, the signature alone merges one.
"""

OTHER_GPU = -1.0
SOME_GPUS = -0.5
"""A hand-over to other GPUs asks for a signature that agrees closely; chosen, not fitted."""

INTERPOSED = -2.0
"""Where other jobs ran on its GPUs in between. Less yet for each factor e of them: with many to choose from,
one looks like it by chance; chosen, not fitted."""

HELD = 6.0
GROWN = 3.0
RELEASED = -3.0
"""Memory in the pause.

Held: none of 90 neighbours on node c that were different jobs, nor of 82 on node d. 400 to 1 outweighs any
change of the steps: an attacker may change these at will, but a finished process holds no memory.
Grown, and never given back: a program still being built, a warm-up, or the next program built between two
samples on what the last one left to the allocator. 14 of 41 sessions that went on, 7 of 384 neighbours that
were different jobs (nodes c to g): 19 to 1. Steps that clearly differ outweigh it.
Released is what a finished run does; that a paused one does, with a checkpoint and a restart, is granted one
in twenty.
"""

SAME_MEMORY_RATIO = 0.02
"""Memory is the same within this share: a paused process keeps it to the byte."""

BYTES_PER_GIBIBYTE = 2**30

FOOTPRINT_MOST, FOOTPRINT_LEAST = 3.5, -3.5
"""Cuts of what the level of device memory at work says where it was released in between."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for or against a link.

    Attributes
    ----------
    kind : str
        ``"prior"``, ``"devices"``, ``"pause"``, ``"between"``, ``"memory"``, ``"footprint"`` or
        ``"signature"``.
    log_ratio : float
        Natural logarithm of how much likelier it is if one run continues than if two follow each other.
    reason : str
        The same in words.
    """

    kind: str
    log_ratio: float
    reason: str


def link_evidence(
    before: Mark,
    after: Mark,
    memory: Mapping[str, MemoryRuns],
    *,
    last: Mark | None = None,
    n_between: int = 0,
) -> tuple[Evidence, ...]:
    """Weigh whether a session continues an earlier one; what nobody saw gives no evidence.

    Parameters
    ----------
    before, after : Mark
        In time order.
    memory : mapping of str to MemoryRuns
        By UUID, at least over the pause between them.
    last : Mark, optional
        The latest session of the job on these GPUs, whose memory counts; ``before`` itself if absent.
    n_between : int
        Other jobs that ran on these GPUs in between, >= 0.
    """
    in_pause = _memory(last or before, after, memory)
    was_held = in_pause is not None and in_pause.log_ratio > 0
    was_released = in_pause is None or in_pause.log_ratio < 0
    found = [
        Evidence("prior", PRIOR, "two sessions are more often two jobs"),
        _devices(before, after),
        _pause(before, after, was_held=was_held),
        _between(n_between),
        in_pause,
        _footprint(before, after) if was_released else None,
        _signature(before, after),
    ]
    return tuple(one for one in found if one is not None)


def probability(evidence: tuple[Evidence, ...]) -> float:
    """Return the probability that all evidence together gives to one run."""
    return 1 / (1 + exp(-sum(one.log_ratio for one in evidence)))


def _devices(before: Mark, after: Mark) -> Evidence:
    shared = len(before.uuids & after.uuids)
    if before.uuids == after.uuids:
        return Evidence("devices", 0.0, "same GPUs")
    if shared:
        return Evidence("devices", SOME_GPUS, f"{shared} GPU(s) in common")
    return Evidence("devices", OTHER_GPU, "other GPUs")


def _pause(before: Mark, after: Mark, *, was_held: bool) -> Evidence:
    """Weigh the pause: nothing up to a minute, then e less for each factor of ten; chosen, not fitted.

    However long it was, nothing where memory was held: the process was there all the time.
    """
    seconds = max(after.start_ns - before.stop_ns, 0) / NANOSECONDS_PER_SECOND
    factor = 1.0 if was_held else max(seconds / 60, 1.0)
    return Evidence("pause", 0.0 - log10(factor), f"after {seconds:.0f} s")


def _between(n_jobs: int) -> Evidence | None:
    return (
        Evidence("between", INTERPOSED - log(n_jobs), f"{n_jobs} other job(s) in between") if n_jobs else None
    )


def _memory(before: Mark, after: Mark, memory: Mapping[str, MemoryRuns]) -> Evidence | None:
    """Weigh whether the memory of the earlier session stayed in use, and was what the later one began with.

    The weakest GPU decides; one where memory grew from the least that was ever in use had nothing to give
    back, and says nothing where another GPU says more.
    """
    uuids = before.level_bytes.keys() & after.level_bytes.keys() & memory.keys()
    found = [one for uuid in sorted(uuids) if (one := _held(uuid, before, after, memory[uuid])) is not None]
    told = [one for one in found if one.log_ratio] or found
    return min(told, key=lambda one: one.log_ratio, default=None)


def _held(uuid: str, before: Mark, after: Mark, runs: MemoryRuns) -> Evidence | None:
    """Weigh one GPU.

    The first half of the later session counts too: a new program may first free what the old one held, in
    the same moments in which it starts to build.
    """
    inside = runs.seen_within(before.stop_ns + 1, after.start_ns - 1)
    if not len(inside):
        return None
    known = runs.seen_within(before.stop_ns + 1, (after.start_ns + after.stop_ns) // 2)
    level = before.level_bytes[uuid]
    fewest, most = level * (1 - SAME_MEMORY_RATIO), level * (1 + SAME_MEMORY_RATIO)
    if known.min() < fewest:
        return Evidence("memory", RELEASED, "memory released in between")
    if max(float(inside.max()), after.level_bytes[uuid]) <= most:
        return Evidence("memory", HELD, "memory held")
    if runs.used_bytes[runs.first_ns <= after.stop_ns].min() < fewest:
        return Evidence("memory", GROWN, "memory held and grown")
    return Evidence("memory", 0.0, "memory grown from the least in use")


def _footprint(before: Mark, after: Mark) -> Evidence | None:
    """Weigh the levels of memory: device by device where they are the same ones, else their means."""
    if not (before.level_bytes and after.level_bytes):
        return None
    shared = before.level_bytes.keys() & after.level_bytes.keys()
    means = [(fmean(before.level_bytes.values()), fmean(after.level_bytes.values()))]
    pairs = [(before.level_bytes[uuid], after.level_bytes[uuid]) for uuid in shared] or means
    differences = [abs(log(second / first)) for first, second in pairs]
    log_ratio = _footprint_log_ratio(median(differences))
    first, second = (max(mark.level_bytes.values()) / BYTES_PER_GIBIBYTE for mark in (before, after))
    words = "same memory footprint" if log_ratio > 0 else "another memory footprint"
    return Evidence("footprint", log_ratio, f"{words} ({first:.1f} and {second:.1f} GiB)")


def _footprint_log_ratio(difference: float) -> float:
    """Return the log-likelihood ratio of a log difference of footprints, from exponential densities.

    One program started again (84 workloads, node d against node c): half within 0.3 %, all within 8 %, as a
    caching allocator rounds as it likes. Different programs (pairs on node c): a median difference of 34 %.
    """
    same = 0.5 * exp(-difference / 0.001) / 0.001 + 0.5 * exp(-difference / 0.03) / 0.03
    return min(max(log(same * 0.5) + difference / 0.5, FOOTPRINT_LEAST), FOOTPRINT_MOST)


def _signature(before: Mark, after: Mark) -> Evidence | None:
    """Weigh the distance of signatures over the noise of the shorter session, that of independent samples."""
    seconds = min(before.seconds, after.seconds, FITTED_SECONDS)
    distance = LIKENESS.distances(before.signature, after.signature) * sqrt(seconds / FITTED_SECONDS)
    if not np.isfinite(distance):
        return None
    log_ratio = float(LIKENESS.log_ratios(distance))
    if log_ratio > 0:
        return Evidence("signature", log_ratio, "same signature of a step")
    differences = np.nan_to_num(LIKENESS.differences(before.signature, after.signature))
    most = SIGNALS[int(differences.argmax())]
    return Evidence("signature", log_ratio, f"another signature of a step ({most} most)")
