"""What one sample says of its device: idle, stalled, working or unseen. Knows no time and no session."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.channels import PIPE_CHANNELS
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import Trace
from flopwitness.physics.chips import CHIPS

INTEGER_PIPE = "int_active_ratio"
OCCUPANCY = "sm_active_ratio"
MEMORY = "dram_active_ratio"
UTILISATION = "gpu_util_ratio"
NODE_POWER = "node_power_watts"
POWER_CHANNELS = ("power_instant_watts", "power_watts", NODE_POWER)
ACTIVITY_CHANNELS = (*PIPE_CHANNELS, MEMORY, OCCUPANCY)
"""What profiling counters answer; one source answers all of them at once or none."""


class State(IntEnum):
    """What a sample says; the order has no meaning."""

    IDLE = 0
    """Every witness answered and none saw anything."""
    STALLED = 1
    """Warps are resident, but no pipe computes, memory is still and power is at its idle level."""
    WORKING = 2
    """A pipe, device memory or power is above its idle level."""
    UNSEEN = 3
    """Not seen idle, and nobody can tell what else: a witness gave no answer."""


@dataclass(frozen=True, slots=True)
class IdleLevels:
    """The most that each witness reads while a device is idle; above it something runs.

    Attributes
    ----------
    activity_ratio : float
        For each floating-point pipe, SM activity and DRAM, in [0, 1). Idle H200s read exactly 0 on pipes and
        SMs, and on DRAM up to 0.000013 (99.9 % of 6,498 idle samples in the recordings of this project at
        10 Hz). The default is eight times that, and hides at most 1/10,000 of what the chip can do.
    integer_ratio : float
        For the integer pipe, in [0, 1). A collective that spins on 24 of 132 SMs reads 0.0016 there, so one
        that spins on every SM reads 0.0088: waiting, not work.
    utilisation_ratio : float
        For GPU utilisation, in [0, 1); asked only where activity was not answered. Any kernel counts.
    power_watts : float
        For the power of a board that may draw 700 W, > 0; infinite to leave power out. Idle H200s draw 76 to
        82 W in low clocks and 118 to 163 W after work. Of a chip with another limit it is that share.
    node_watts : float
        For the power of a whole node, > 0. Nobody knows a node that was not measured: at the default,
        infinity, such a sample is never seen idle, nor working.

    Raises
    ------
    InvalidNounError
        When a level is out of its range.

    Examples
    --------
    >>> IdleLevels().activity_ratio
    0.0001
    """

    activity_ratio: float = 1e-4
    integer_ratio: float = 0.01
    utilisation_ratio: float = 0.0
    power_watts: float = 200.0
    node_watts: float = float("inf")

    def __post_init__(self) -> None:
        """Refuse levels that no reading could pass, or that every reading passes."""
        for name in ("activity_ratio", "integer_ratio", "utilisation_ratio"):
            if not 0 <= getattr(self, name) < 1:
                raise InvalidNounError(f"idle level {name} is {getattr(self, name)}, not inside [0, 1)")
        for name in ("power_watts", "node_watts"):
            if not getattr(self, name) > 0:
                raise InvalidNounError(f"idle level {name} is {getattr(self, name)}, not above 0")

    def of(self, channel: str) -> float:
        """Return the level of an activity channel."""
        return self.integer_ratio if channel == INTEGER_PIPE else self.activity_ratio

    def watts_of(self, channel: str, chip: str) -> float:
        """Return the level of a power channel on a chip; of one that nobody knows, as on a board of 700 W.

        Examples
        --------
        >>> [IdleLevels().watts_of("power_watts", chip) for chip in ("H200-SXM", "V100-SXM2", "unknown")]
        [200.0, 85.71428571428571, 200.0]
        """
        if channel == NODE_POWER:
            return self.node_watts
        known = CHIPS.get(chip)
        return self.power_watts * (known.power_limit_watts / REFERENCE_LIMIT_WATTS if known else 1.0)


REFERENCE_LIMIT_WATTS = 700.0
"""Limit of the boards that ``IdleLevels.power_watts`` was measured on."""

DEFAULT_LEVELS = IdleLevels()


def activity_witnesses(trace: Trace) -> tuple[str, ...]:
    """Return the activity channels that a trace has."""
    return tuple(name for name in ACTIVITY_CHANNELS if name in trace)


def fallback_witnesses(trace: Trace) -> tuple[str, ...]:
    """Return utilisation and one power channel, as far as a trace has them.

    The instant power comes first: the mean of newer chips trails by up to 1 s (NVML,
    ``nvmlDeviceGetPowerUsage``).
    """
    power = next((name for name in POWER_CHANNELS if name in trace), None)
    return tuple(name for name in (UTILISATION, power) if name is not None and name in trace)


def witnesses(trace: Trace) -> tuple[str, ...]:
    """Return the channels that the state of these samples rests on.

    Without activity channels only utilisation and power are left, and no sample can be called stalled.

    Examples
    --------
    >>> from flopwitness.core.device import Device
    >>> witnesses(Trace(Device("GPU-a"), [0], {"power_watts": [80.0], "temperature_celsius": [40.0]}))
    ('power_watts',)
    """
    return (*activity_witnesses(trace), *fallback_witnesses(trace))


def sample_states(trace: Trace, levels: IdleLevels = DEFAULT_LEVELS) -> NDArray[np.int8]:
    """Return the state that each sample shows, as a number of ``State``.

    A sample whose activity was answered is judged by it, and power may only raise it to working: profiling
    counters trail a start by one sample, power by less. Utilisation is not asked there: it is an average
    that trails by up to a second, and a deadlock reads 100 %.

    A sample with any activity channel blank was not answered, whatever the other channels read: NVML GPM
    gives 0 for all of them beside a blank DRAM value, at 700 W too. Utilisation and power stand in: idle when
    all of them that the trace has are at their idle levels, working when power is above, unseen otherwise.

    Parameters
    ----------
    trace : Trace
        Samples of one device.
    levels : IdleLevels
        What counts as idle.

    Returns
    -------
    ndarray of shape (n_samples,), int8
    """
    busy, answered = _activity(trace, levels)
    utilised, loaded, backed = _fallback(trace, levels)
    occupied = _above(trace, OCCUPANCY, levels.activity_ratio) if OCCUPANCY in trace else utilised
    working = busy | loaded
    idle = np.where(answered, ~occupied, backed & ~utilised) & ~working
    stalled = answered & occupied & ~working & _stall_is_provable(trace)
    states = np.full(len(trace), State.UNSEEN, dtype=np.int8)
    states[idle] = State.IDLE
    states[stalled] = State.STALLED
    states[working] = State.WORKING
    return states


def _above(trace: Trace, channel: str, level: float) -> NDArray[np.bool_]:
    """Say where a channel was seen above a level; a blank was not."""
    return trace.column(channel) > level


def _answered(trace: Trace, channels: tuple[str, ...]) -> NDArray[np.bool_]:
    """Say where every one of these channels has a value; nowhere, where there is no channel."""
    if not channels:
        return np.zeros(len(trace), dtype=np.bool_)
    answered: NDArray[np.bool_] = np.logical_and.reduce([np.isfinite(trace[name]) for name in channels])
    return answered


def _activity(trace: Trace, levels: IdleLevels) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say where a pipe or memory was seen busy, and where all activity channels answered."""
    busy = np.zeros(len(trace), dtype=np.bool_)
    for name in (*PIPE_CHANNELS, MEMORY):
        busy |= _above(trace, name, levels.of(name))
    return busy, _answered(trace, activity_witnesses(trace))


def _fallback(
    trace: Trace, levels: IdleLevels
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Say where utilisation and where power was seen above idle, and where all of them answered."""
    names = fallback_witnesses(trace)
    loaded = np.zeros(len(trace), dtype=np.bool_)
    answered = _answered(trace, names)
    for name in names:
        if name != UTILISATION:
            level = levels.watts_of(name, trace.device.chip)
            loaded |= _above(trace, name, level)
            answered &= np.isfinite(level) | (name != NODE_POWER)  # without a level a node tells nothing
    return _above(trace, UTILISATION, levels.utilisation_ratio), loaded, answered


def _stall_is_provable(trace: Trace) -> NDArray[np.bool_]:
    """Say where matrix pipe, memory and power were all seen: less cannot show that no work is done."""
    power = tuple(name for name in fallback_witnesses(trace) if name != UTILISATION)
    if not power or not {"tensor_active_ratio", MEMORY} <= set(trace.channels):
        return np.zeros(len(trace), dtype=np.bool_)
    return _answered(trace, power)
