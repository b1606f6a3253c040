"""The project's own recording CSV, as one format of many."""

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.telemetry.readers.formats.project_csv import FORMAT

SAMPLE = b"""\
t,gpu,power_w,power_inst_w,energy_mj,util,mem_util,sm_mhz,mem_mhz,temp_c,throttle,nvl_tx_kib,nvl_rx_kib,gr,sm,occ,int,tensor,dfma,hmma,imma,dram,fp64,fp32,fp16,pcie_tx_mibs,pcie_rx_mibs,nvl_rx_mibs,nvl_tx_mibs
1770091506.1000,0,640.200,655.100,5000120,100,55,1755,3201,61,4,1000,1000,99.1,81.0,22.5,3.1,44.2,0.0,44.2,0.0,37.0,0.0,5.1,0.2,1.5,2.5,900.0,900.0
1770091506.1260,1,78.100,77.900,7000450,0,0,345,3201,38,1,1000,1000,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,nan,0.0,0.0,0.0,0.1,0.1,0.0,0.0
"""


class TestProjectCsv(FormatContract):
    """Two GPUs, a lost DRAM sample."""

    form = FORMAT
    sample = SAMPLE


def test_the_readings_are_those_of_its_own_reader():
    """Percent to ratios, exact instants, a device a capture and index; findings are kept."""
    recording = recording_of_bytes(SAMPLE)

    first, second = recording.traces
    assert first.device.uuid == "some-upload:0"
    assert first.time_ns.tolist() == [START_NS + 100_000_000]
    assert first["tensor_active_ratio"].tolist() == [0.442]
    assert "dram_active_ratio" not in second
    assert {"uuid-inferred", "missing-values"} <= codes(recording.findings)
