"""Which NVML question gives which channel, in which unit, at which price.

Sources: NVML API reference (device queries, ``NVML_FI_DEV_*``, ``nvmlGpmMetricId_t``), and prices measured on
an H200 with driver 580, all of it processor time in the kernel: a field of the power sensor takes 0.09 ms,
a GPM sample 0.25 ms and most GPM metrics 0.02 ms together; the energy counter takes 3.5 to 6 ms, GPM
metric 1 (the graphics engine) 1.3 to 1.8 ms and an NVLink counter 0.7 ms.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import IntEnum

from flopwitness.core.errors import InvalidNounError

KIBIBYTE, MEBIBYTE, MEGAHERTZ = 1024.0, 1048576.0, 1e6
PERCENT, MILLI = 0.01, 1e-3
GPU_SCOPE, ALL_LINKS = 0, 0xFFFFFFFF


class Tier(IntEnum):
    """How often a signal is asked for; when a tier is due, those before it are asked too.

    ``POLLED`` is utilisation, which detection by activity needs only where activity was not answered.
    """

    EACH = 0
    POLLED = 1
    SLOW = 2
    COSTLY = 3


@dataclass(frozen=True, slots=True)
class Cadence:
    """How often the signals that need not be asked each round are asked; in between the channel is NaN.

    When a device goes from idle to busy or back, the counters are read in that very round, so that they
    stand at both edges of a workload. Where a round has no activity, utilisation is asked as well.

    Attributes
    ----------
    slow_seconds, costly_seconds : float
        Least time between two readings, >= 0; 0 asks in every round.
    edge_seconds : float
        Least time between two readings of the counters that edges ask for, >= 0.
    patience_seconds : float
        How long a round waits for a device, > 0.
    polled_seconds : float
        Least time between two readings of utilisation, >= 0. The experiment's detector lives on it and needs
        it in every round.

    Raises
    ------
    InvalidNounError
        When a figure is out of its range.
    """

    slow_seconds: float = 2.0
    costly_seconds: float = 20.0
    edge_seconds: float = 1.0
    patience_seconds: float = 1.0
    polled_seconds: float = 0.0

    def __post_init__(self) -> None:
        """Refuse negative times, and a round that waits for nobody."""
        times = (self.slow_seconds, self.costly_seconds, self.edge_seconds, self.polled_seconds)
        if min(times) < 0 or self.patience_seconds <= 0:
            raise InvalidNounError(f"cadence out of range: {self}")

    def seconds(self, tier: Tier) -> float:
        """Return the least time between two readings of a tier."""
        return (0.0, self.polled_seconds, self.slow_seconds, self.costly_seconds)[tier]


@dataclass(frozen=True, slots=True)
class Signal:
    """One number of NVML: value in base units = number x ``factor``.

    ``number`` is a field id with its scope, or a GPM metric id.
    """

    channel: str
    number: int
    factor: float
    tier: Tier = Tier.EACH
    scope: int = GPU_SCOPE


@dataclass(frozen=True, slots=True)
class Query:
    """One function of NVML by name: its arguments after the handle, what to take from the answer."""

    channels: tuple[str, ...]
    function: str
    factor: float
    tier: Tier = Tier.SLOW
    arguments: tuple[int, ...] = ()
    members: tuple[str, ...] = ()


FIELDS = (
    Signal("power_instant_watts", 186, MILLI),
    Signal("power_watts", 185, MILLI, Tier.SLOW),
    Signal("mem_temperature_celsius", 82, 1.0, Tier.SLOW),
    Signal("nvlink_tx_bytes_total", 138, KIBIBYTE, Tier.COSTLY, ALL_LINKS),
    Signal("nvlink_rx_bytes_total", 139, KIBIBYTE, Tier.COSTLY, ALL_LINKS),
    Signal("energy_joules_total", 83, MILLI, Tier.COSTLY),
)
"""Field values: 185 and 186 in mW, 83 in mJ, 138 and 139 in KiB without protocol overhead.

185 is a mean over 1 s, 186 the last reading; see ``paced`` for where 185 is asked each round all the same.
"""

QUERIES = (
    Query(
        ("gpu_util_ratio", "mem_util_ratio"),
        "nvmlDeviceGetUtilizationRates",
        PERCENT,
        Tier.POLLED,
        members=("gpu", "memory"),
    ),
    Query(("sm_clock_hertz",), "nvmlDeviceGetClockInfo", MEGAHERTZ, Tier.EACH, (1,)),
    Query(("power_watts",), "nvmlDeviceGetPowerUsage", MILLI, Tier.EACH),
    Query(("mem_clock_hertz",), "nvmlDeviceGetClockInfo", MEGAHERTZ, arguments=(2,)),
    Query(("temperature_celsius",), "nvmlDeviceGetTemperature", 1.0, arguments=(0,)),
    Query(("temperature_celsius",), "nvmlDeviceGetTemperatureV", 1.0, arguments=(0,)),
    Query(("throttle_reasons_mask",), "nvmlDeviceGetCurrentClocksEventReasons", 1.0),
    Query(("throttle_reasons_mask",), "nvmlDeviceGetCurrentClocksThrottleReasons", 1.0),
    Query(("memory_used_bytes",), "nvmlDeviceGetMemoryInfo", 1.0, members=("used",)),
    Query(("energy_joules_total",), "nvmlDeviceGetTotalEnergyConsumption", MILLI, Tier.COSTLY),
)
"""Functions; where several give one channel, the first that answers is kept, fields before functions.

Clock type 1 is the SMs' and 2 the memory's, temperature sensor 0 the core's.
"""

METRICS = (
    Signal("sm_active_ratio", 2, PERCENT),
    Signal("sm_occupancy_ratio", 3, PERCENT),
    Signal("int_active_ratio", 4, PERCENT),
    Signal("tensor_active_ratio", 5, PERCENT),
    Signal("dfma_active_ratio", 6, PERCENT),
    Signal("hmma_active_ratio", 7, PERCENT),
    Signal("dmma_active_ratio", 8, PERCENT),
    Signal("imma_active_ratio", 9, PERCENT),
    Signal("dram_active_ratio", 10, PERCENT),
    Signal("fp64_active_ratio", 11, PERCENT),
    Signal("fp32_active_ratio", 12, PERCENT),
    Signal("fp16_active_ratio", 13, PERCENT),
    Signal("pcie_tx_bytes_per_second", 20, MEBIBYTE),
    Signal("pcie_rx_bytes_per_second", 21, MEBIBYTE),
    Signal("nvlink_rx_bytes_per_second", 60, MEBIBYTE),
    Signal("nvlink_tx_bytes_per_second", 61, MEBIBYTE),
    Signal("sm_cycles_total", 248, 1.0),
    Signal("sm_active_cycles_total", 249, 1.0),
    Signal("tensor_active_cycles_total", 250, 1.0),
    Signal("hmma_active_cycles_total", 252, 1.0),
    Signal("imma_active_cycles_total", 253, 1.0),
    Signal("dfma_active_cycles_total", 254, 1.0),
    Signal("int_active_cycles_total", 257, 1.0),
    Signal("fp64_active_cycles_total", 258, 1.0),
    Signal("fp32_active_cycles_total", 259, 1.0),
    Signal("fp16_active_cycles_total", 260, 1.0),
    Signal("gr_engine_active_ratio", 1, PERCENT, Tier.COSTLY),
)
"""GPM metrics, those of each round first: percent, MiB/s, cycles since boot.

The order of the enumeration is TX, RX for PCIe (20, 21) but RX, TX for NVLink (60, 61).
"""


def paced(fields: tuple[Signal, ...], given: Collection[str]) -> tuple[Signal, ...]:
    """Return the fields with the mean power asked each round where energy must be made from it.

    Parameters
    ----------
    fields : tuple of Signal
        Fields that a GPU answers.
    given : collection of str
        Channels that it gives.

    Examples
    --------
    >>> [str(field.tier) for field in paced(FIELDS[:2], {"power_watts", "power_instant_watts"})]
    ['0', '0']
    """
    if {"power_instant_watts", "energy_joules_total"} <= set(given):
        return fields
    return tuple(replace(field, tier=Tier.EACH) if "power" in field.channel else field for field in fields)
