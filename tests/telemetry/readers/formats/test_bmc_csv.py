"""A management controller's log: the node is a device of its own."""

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.bmc_csv import FORMAT

SAMPLE = b"""timestamp,phase,sys_power_w,gpu0_bmc_temp_c,gpu1_bmc_temp_c
1770091506.0,idle,1200,35,36
1770091508.0,steady,5120.5,61,
1770091510.0,steady,0,62,60
"""


class TestBmcCsv(FormatContract):
    """A node with two GPUs."""

    form = FORMAT
    sample = SAMPLE


def test_node_and_gpus_are_apart():
    """Power of the node never becomes that of a GPU; 0 W is how a controller says that it cannot."""
    node, first, second = recording_of_bytes(SAMPLE, Asked(name="log")).traces

    assert [trace.device.uuid for trace in (node, first, second)] == ["log:node", "log:0", "log:1"]
    assert node.time_ns.tolist() == [START_NS, START_NS + 2 * 10**9, START_NS + 4 * 10**9]
    assert str(node["node_power_watts"].tolist()) == "[1200.0, 5120.5, nan]"
    assert list(node.channels) == ["node_power_watts"]
    assert first["temperature_celsius"].tolist() == [35.0, 61.0, 62.0]
    assert str(second["temperature_celsius"].tolist()) == "[36.0, nan, 60.0]"


def test_a_power_column_that_is_gone_is_told():
    """What the format normally has and is not there is a finding."""
    log = b"timestamp,gpu0_bmc_temp_c\n1770091506.0,35\n"

    assert "missing-column" in codes(recording_of_bytes(log).findings)
