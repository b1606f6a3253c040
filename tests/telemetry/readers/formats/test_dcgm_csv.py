"""CSV of DCGM's fields, and the same from NVML."""

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.telemetry.readers.formats.dcgm_csv import FORMATS

DCGM_FORMAT, NVML_FORMAT = FORMATS
DCGM = b"""\
timestamp,phase,gpu,gpu_model,power_w,temp_c,mem_used_mib,mem_total_mib,gpu_util_pct,mem_util_pct,sm_active,tensor_active,dram_active,fp16_active,pcie_tx_bytes_s,pcie_rx_bytes_s,nvlink_tx_bytes_s,nvlink_rx_bytes_s,throttle_reasons,energy_mj
1770091506.100,steady,0,NVIDIA H100 80GB HBM3,640.2,61,70000,81559,100,55,0.81,0.44,0.37,0.000000,1000000,2000000,5e9,5e9,4,5000120
1770091506.100,steady,1,NVIDIA H100 80GB HBM3,633.0,60,70000,81559,100,54,,,,,,,,,4,7000450
1770091506.200,steady,0,NVIDIA H100 80GB HBM3,641.0,61,70000,81559,100,55,0.82,5e-06,0.37,0.0,1000000,2000000,5e9,5e9,4,5064220
"""  # noqa: E501
NVML = b"""\
timestamp,phase,gpu,power_w,sm_util_pct,mem_util_pct,mem_used_mib,mem_total_mib,temp_c,pcie_tx_kib,pcie_rx_kib,clock_sm_mhz,clock_mem_mhz
1770091506.100,warmup,0,640.2,100,55,70000,81559,61,1000,2000,1755,2619
"""


class TestDcgmCsv(FormatContract):
    """One stamp a tick, floats in several styles."""

    form = DCGM_FORMAT
    sample = DCGM


class TestNvmlCsv(FormatContract):
    """The form of 13 columns."""

    form = NVML_FORMAT
    sample = NVML


def test_every_cell_of_dcgm_arrives_in_base_units():
    """Ratios as they are, a counter in mJ; empty cells are missing and offer no channel."""
    first, second = recording_of_bytes(DCGM).traces

    assert (first.device.chip, second.device.chip) == ("H100-SXM", "H100-SXM")
    assert first.time_ns.tolist() == [START_NS + 100_000_000, START_NS + 200_000_000]
    assert {name: column.tolist() for name, column in first.channels.items()} == {
        "power_watts": [640.2, 641.0],
        "temperature_celsius": [61.0, 61.0],
        "memory_used_bytes": [70000 * 1048576.0] * 2,
        "gpu_util_ratio": [1.0, 1.0],
        "mem_util_ratio": [0.55, 0.55],
        "sm_active_ratio": [0.81, 0.82],
        "tensor_active_ratio": [0.44, 5e-06],
        "dram_active_ratio": [0.37, 0.37],
        "fp16_active_ratio": [0.0, 0.0],
        "pcie_tx_bytes_per_second": [1e6, 1e6],
        "pcie_rx_bytes_per_second": [2e6, 2e6],
        "nvlink_tx_bytes_per_second": [5e9, 5e9],
        "nvlink_rx_bytes_per_second": [5e9, 5e9],
        "throttle_reasons_mask": [4.0, 4.0],
        "energy_joules_total": [5000.12, 5064.22],
    }
    assert "tensor_active_ratio" not in second


def test_every_cell_of_nvml_arrives_in_base_units():
    """``sm_util_pct`` is the share of time with a kernel; rates are KiB a second."""
    recording = recording_of_bytes(NVML)

    assert {name: column.tolist() for name, column in recording.traces[0].channels.items()} == {
        "power_watts": [640.2],
        "gpu_util_ratio": [1.0],
        "mem_util_ratio": [0.55],
        "memory_used_bytes": [70000 * 1048576.0],
        "temperature_celsius": [61.0],
        "pcie_tx_bytes_per_second": [1024000.0],
        "pcie_rx_bytes_per_second": [2048000.0],
        "sm_clock_hertz": [1.755e9],
        "mem_clock_hertz": [2.619e9],
    }
    assert not codes(recording.findings) & {"unknown-column", "missing-column"}
