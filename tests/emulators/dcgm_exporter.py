"""An emulated dcgm-exporter: text as it prints it, for GPUs whose values change with each scrape."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import sin
from types import MappingProxyType

BLANK = "9223372036854775794"
"""Not supported, as int64: what some builds print for the memory's temperature."""

OLD = MappingProxyType(
    {
        "power": "DCGM_FI_DEV_POWER_USAGE",
        "energy": "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "sm_clock": "DCGM_FI_DEV_SM_CLOCK",
        "mem_clock": "DCGM_FI_DEV_MEM_CLOCK",
        "temperature": "DCGM_FI_DEV_GPU_TEMP",
        "mem_temperature": "DCGM_FI_DEV_MEMORY_TEMP",
        "utilisation": "DCGM_FI_DEV_GPU_UTIL",
        "mem_used": "DCGM_FI_DEV_FB_USED",
        "tensor": "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "dram": "DCGM_FI_PROF_DRAM_ACTIVE",
        "sm": "DCGM_FI_PROF_SM_ACTIVE",
        "hmma": "DCGM_FI_PROF_PIPE_TENSOR_HMMA_ACTIVE",
        "nvlink_tx": "DCGM_FI_PROF_NVLINK_TX_BYTES",
        "nvlink_rx": "DCGM_FI_PROF_NVLINK_RX_BYTES",
        "pcie_tx": "DCGM_FI_PROF_PCIE_TX_BYTES",
        "pcie_rx": "DCGM_FI_PROF_PCIE_RX_BYTES",
        "nvlink_odd": "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        "xid": "DCGM_FI_DEV_XID_ERRORS",
    }
)
"""Names up to DCGM 4.5."""

NEW = OLD | {
    "power": "DCGM_FI_DEV_BOARD_POWER_WATTS",
    "temperature": "DCGM_FI_DEV_GPU_TEMP_CELSIUS",
    "mem_temperature": "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS",
    "utilisation": "DCGM_FI_DEV_GPU_UTIL_RATIO",
    "tensor": "DCGM_FI_PROF_TENSOR_UTIL_RATIO",
    "dram": "DCGM_FI_PROF_DRAM_UTIL_RATIO",
    "sm": "DCGM_FI_PROF_SM_UTIL_RATIO",
    "hmma": "DCGM_FI_PROF_HMMA_UTIL_RATIO",
}
"""Names since DCGM 4.6."""

COUNTERS = frozenset({"energy", "pcie_tx", "pcie_rx", "nvlink_odd"})
"""What its type lines call counters; of the last three this is wrong, as in old builds."""


@dataclass
class EmulatedExporter:
    """GPUs of one node, seen through its exporter; each ``render`` is one scrape later.

    Attributes
    ----------
    uuids : tuple of str
        Its GPUs.
    host : str
        Its node.
    names : mapping of str to str
        ``OLD`` or ``NEW``.
    n_scrapes : int
        How often it was asked.
    """

    uuids: tuple[str, ...]
    host: str = "n0"
    names: Mapping[str, str] = field(default_factory=lambda: OLD)
    n_scrapes: int = 0

    def render(self) -> bytes:
        """Return the next scrape."""
        self.n_scrapes += 1
        return "".join(self._lines(self.n_scrapes)).encode()

    def values(self, number: int, scrape: int) -> dict[str, str]:
        """Return what is printed of a GPU at a scrape, by our short names, in the exporter's units."""
        load = 0.5 + 0.4 * sin(scrape / 3 + number)
        figures = {
            "power": 100 + 550 * load,
            "energy": 5_000_000 * (number + 1) + 137_000 * scrape,
            "sm_clock": 1980 - 15 * (scrape % 7),
            "mem_clock": 3201,
            "temperature": 40 + scrape % 20,
            "utilisation": 100 * (scrape % 5 > 0),
            "mem_used": 70_000 + scrape,
            "tensor": 0.55 * load,
            "dram": 0.4 * load,
            "sm": 0.9 * load,
            "hmma": 0.54 * load,
            "nvlink_tx": 9e8 * load,
            "nvlink_rx": 8e8 * load,
            "pcie_tx": 1_000_000 + scrape,
            "pcie_rx": 2_000_000 + scrape,
            "nvlink_odd": 1000,
            "xid": 0,
        }
        return {name: f"{figure:.6f}" for name, figure in figures.items()} | {"mem_temperature": BLANK}

    def _lines(self, scrape: int) -> Iterator[str]:
        values = [self.values(number, scrape) for number in range(len(self.uuids))]
        for short, name in self.names.items():
            yield f"# HELP {name} As DCGM says.\n"
            yield f"# TYPE {name} {'counter' if short in COUNTERS else 'gauge'}\n"
            for number, uuid in enumerate(self.uuids):
                yield f"{name}{{{self._labels(number, uuid)}}} {values[number][short]}\n"

    def _labels(self, number: int, uuid: str) -> str:
        host = "Hostname" if self.names is OLD else "hostname"
        return (
            f'gpu="{number}",UUID="{uuid}",pci_bus_id="00000000:{number:02X}:00.0",device="nvidia{number}",'
            f'modelName="NVIDIA H200",{host}="{self.host}",container="",namespace="",pod=""'
        )
