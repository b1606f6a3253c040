"""From channels to estimators: which of them a set of signals allows, and what would bring the rest."""

from collections.abc import Mapping
from types import MappingProxyType

from flopwitness.estimate.methods import METHODS
from flopwitness.physics.chips import CHIPS

Needs = tuple[frozenset[str], ...]
KNOWN_CHIP = "a known chip"
CLOCK = "sm_clock_hertz"


def _any_of(*choices: tuple[str, ...]) -> Needs:
    return tuple(frozenset(choice) for choice in choices)


COLUMN_NEEDS: Mapping[str, Needs] = MappingProxyType(
    {
        "duration_seconds": _any_of(()),
        "net_energy_joules": _any_of(("power_watts",), ("power_instant_watts", "energy_joules_total")),
        "dram_bytes": _any_of(("dram_active_ratio",)),
        "nvlink_bytes": _any_of(
            ("nvlink_tx_bytes_total", "nvlink_rx_bytes_total"),
            ("nvlink_tx_bytes_per_second", "nvlink_rx_bytes_per_second"),
        ),
        "matrix_flop": _any_of(("hmma_active_ratio", CLOCK), ("tensor_active_ratio", CLOCK)),
        "vector_flop": _any_of(
            ("fp32_active_ratio", CLOCK), ("fp64_active_ratio", CLOCK), ("fp16_active_ratio", CLOCK)
        ),
        "integer_matrix_flop": _any_of(("imma_active_ratio", CLOCK)),
        "double_matrix_flop": _any_of(("dfma_active_ratio", CLOCK)),
        "tensor_cycles": _any_of(("tensor_active_ratio", CLOCK)),
        "fp32_cycles": _any_of(("fp32_active_ratio", CLOCK)),
        "int_cycles": _any_of(("int_active_ratio", CLOCK)),
        "sm_active_cycles": _any_of(("sm_active_ratio", CLOCK)),
        "occupancy_cycles": _any_of(("sm_occupancy_ratio", CLOCK)),
    }
)
"""Channels behind each feature column that an estimator reads: any one of the sets will do, the usual first.

The columns are those of ``flopwitness.estimate.features.row``.
"""

ACTIVITY_REMEDY = (
    "No tensor activity: on Hopper and newer use NVML (nvidia-ml-py, a driver that offers GPM);"
    " on older GPUs start a DCGM host engine with its profiling module, or dcgm-exporter."
)
PERMISSION_REMEDY = (
    "Some signals are refused for lack of permission: run as root, or load the driver with"
    " NVreg_RestrictProfilingToAdminUsers=0."
)
CHIP_REMEDY = "Some GPU is of a chip that is not in the table: its FLOP cannot be estimated, only recorded."


def missing_channels(column: str, offered: frozenset[str]) -> frozenset[str]:
    """Return what the cheapest way to a column still lacks; empty where it can be computed.

    Examples
    --------
    >>> sorted(missing_channels("dram_bytes", frozenset({"power_watts"})))
    ['dram_active_ratio']
    """
    return min((need - offered for need in COLUMN_NEEDS[column]), key=len)


def allowed_methods(chip: str, offered: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return every estimator with what it still misses, in the order of ``METHODS``.

    Parameters
    ----------
    chip : str
        Name of the chip; features need one of the table.
    offered : frozenset of str
        Channels that are answered.

    Examples
    --------
    >>> allowed = allowed_methods("H200-SXM", frozenset({"power_watts"}))
    >>> allowed["linear-power"], allowed["linear-power-dram"]
    ((), ('dram_active_ratio',))
    """
    chip_lack = frozenset() if chip in CHIPS else frozenset({KNOWN_CHIP})
    return {
        name: tuple(
            sorted(chip_lack.union(*(missing_channels(column, offered) for column in method.required)))
        )
        for name, method in METHODS.items()
    }


def advice_of(chip: str, rates_hertz: Mapping[str, float], refused: Mapping[str, str]) -> list[str]:
    """Return what a person can do about what a GPU does not give, one sentence each."""
    silent = sorted(name for name, rate in rates_hertz.items() if rate == 0)
    advice = []
    if chip not in CHIPS:
        advice.append(CHIP_REMEDY)
    if not rates_hertz.get("tensor_active_ratio"):
        advice.append(ACTIVITY_REMEDY)
    if "no permission" in refused.values():
        advice.append(PERMISSION_REMEDY)
    if silent:
        advice.append(f"Offered but never answered: {', '.join(silent)}.")
    return advice
