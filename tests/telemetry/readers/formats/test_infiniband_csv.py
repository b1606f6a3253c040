"""InfiniBand: a host's fabric belongs to no GPU."""

from contracts.format import START_NS, FormatContract, codes, reader_of
from flopwitness.telemetry.readers.formats.infiniband_csv import FORMAT

SAMPLE = b"""timestamp,phase,ib0_tx_bytes_s,ib0_rx_bytes_s,ib0_tx_pkts_s,ib1_tx_bytes_s,total_tx_bytes_s
1770091506.0,steady,1e9,2e9,100,,1e9
1770091507.0,steady,3e9,2e9,300,5,3e9
1770091508.0,steady,5e9,2e9,500,,5e9
1770091608.0,steady,7e9,2e9,700,7,7e9
"""


class TestInfinibandCsv(FormatContract):
    """Two ports, a blank, a gap and the totals."""

    form = FORMAT
    sample = SAMPLE


def test_each_port_has_a_row_of_means_over_what_was_seen():
    """A gap is not bridged; totals are sums and are left out."""
    summary = reader_of(SAMPLE).summary

    assert dict(summary.rows[0]) == {
        "port": "ib0",
        "n_samples": 4,
        "started_ns": START_NS,
        "stopped_ns": START_NS + 102 * 10**9,
        "observed_seconds": 2.0,
        "tx_bytes_per_second": 3e9,
        "most_tx_bytes_per_second": 7e9,
        "tx_packets_per_second": 300.0,
        "most_tx_packets_per_second": 700.0,
        "rx_bytes_per_second": 2e9,
        "most_rx_bytes_per_second": 2e9,
    }
    assert {"fabric-traffic", "missing-values"} == codes(summary.findings)


def test_a_port_that_was_never_seen_twice_in_a_row_has_no_mean():
    """Blanks are no zeros."""
    second = reader_of(SAMPLE).summary.rows[1]

    assert (second["port"], second["tx_bytes_per_second"], second["most_tx_bytes_per_second"]) == (
        "ib1", None, 7.0
    )  # fmt: skip
