"""Which missing signal would narrow a session's interval most: widths with more signals and with less."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from flopwitness.core.finding import Finding, Severity
from flopwitness.estimate.sparse.envelopes import activity_ratio
from flopwitness.estimate.sparse.priors import (
    CLOCK_RANGE,
    SAME_DIE,
    NumberFormat,
    clock_share_range,
    share_range,
    transfer_factor,
)
from flopwitness.physics.chip import Chip

CALIBRATED_RATIOS: Mapping[str, float] = MappingProxyType(
    {"all": 2.23, "tensor-and-clock": 8.84, "power-and-clock": 13.1, "power": 29.4}
)
"""High over low, the median of runs, by signals, where a calibration is shipped.

Measured by ``benchmarks/missing_signals.py`` on recordings that the calibration has not seen, in all number
formats; a test holds these to its answers.
"""

UNPROFILED = frozenset({"RDNA3"})
"""Architectures whose sources tell no activity of matrix pipes (AMD, amdsmi)."""

MEMORY_AND_PIPES = ("sm_active_ratio", "dram_active_ratio", "fp32_active_ratio", "int_active_ratio")


class Narrowing(NamedTuple):
    """What a signal would bring.

    Attributes
    ----------
    wanted : str
        The signal, in words.
    ratio_now, ratio_then : float
        High over low of the interval without it and with it.
    """

    wanted: str
    ratio_now: float
    ratio_then: float


def narrowings(
    chip: Chip, channels: Iterable[str], *, ratio_now: float, is_calibrated: bool
) -> tuple[Narrowing, ...]:
    """Return what each missing signal would bring, the one that narrows most first.

    Parameters
    ----------
    chip : Chip
        Of the session's GPUs.
    channels : iterable of str
        What every GPU of the session gave.
    ratio_now : float
        High over low of the narrowest interval that there is; infinite where there is a bound alone.
    is_calibrated : bool
        Whether a calibration for the chip is at hand.
    """
    held = frozenset(channels)
    offers = _calibrated(held) if is_calibrated else _uncalibrated(chip, held)
    useful = [Narrowing(wanted, ratio_now, ratio) for wanted, ratio in offers if ratio < ratio_now]
    return tuple(sorted(useful, key=lambda each: each.ratio_then))


def narrowing_finding(found: Iterable[Narrowing]) -> Finding | None:
    """Return the finding that names the best of them; None where nothing would narrow."""
    best = next(iter(found), None)
    if best is None:
        return None
    now = f"a factor of {best.ratio_now:.3g}" if best.ratio_now < float("inf") else "a bound alone"
    message = f"{best.wanted} would narrow it most: from {now} to a factor of {best.ratio_then:.3g}"
    return Finding("would-narrow", message, Severity.NOTE)


def _has_activity(held: frozenset[str]) -> bool:
    return bool(held & {"tensor_active_ratio", "hmma_active_ratio"})


def _calibrated(held: frozenset[str]) -> list[tuple[str, float]]:
    ratios, has_clock = CALIBRATED_RATIOS, "sm_clock_hertz" in held
    if _has_activity(held):
        wanted = [] if has_clock else [("the SM clock", ratios["tensor-and-clock"])]
        if not set(MEMORY_AND_PIPES) <= held:
            words = "activity of memory, SMs and plain pipes"
            wanted.append((words if has_clock else f"the SM clock with {words}", ratios["all"]))
        return wanted
    clock = "" if has_clock else " and the SM clock"
    offers = [
        (f"matrix-pipe activity{clock}", ratios["tensor-and-clock"]),
        (f"all profiling activity{clock}", ratios["all"]),
    ]
    if not _has_power(held):
        offers.append(("board power or energy", ratios["power"]))
    elif not has_clock:
        offers.append(("the SM clock", ratios["power-and-clock"]))
    return offers


def _uncalibrated(chip: Chip, held: frozenset[str]) -> list[tuple[str, float]]:
    every, half = frozenset(NumberFormat), (NumberFormat.HALF,)
    has_clock = "sm_clock_hertz" in held
    clock = "" if has_clock else " and the SM clock"
    is_profiled = chip.architecture not in UNPROFILED
    offers = [(f"matrix-pipe activity{clock}", activity_ratio(chip, every))] if is_profiled else []
    if _has_activity(held):
        offers = [("the SM clock", activity_ratio(chip, every))] if not has_clock else []
        offers.append(("the number format", activity_ratio(chip, half)))
    elif _has_power(held):
        offers.append(("the number format", share_range(chip, half).ratio))
        if not has_clock and transfer_factor(chip) <= SAME_DIE:
            offers.append(("the SM clock", clock_share_range(chip, CLOCK_RANGE[1], every).ratio))
    elif "node_power_watts" in held:
        offers.append(("the number format", share_range(chip, half).ratio))
        offers.append(("power of each GPU", share_range(chip, every).ratio))
    else:
        offers.append(("board power or energy", share_range(chip, every).ratio))
    return offers


def _has_power(held: frozenset[str]) -> bool:
    return bool(held & {"energy_joules_total", "power_watts", "power_instant_watts"})
