"""Redfish: zeros and empty lists are no answer."""

import pytest

from contracts.format import FormatContract, codes, reader_of
from flopwitness.telemetry.readers.formats.redfish_json import FORMAT

SAMPLE = b"""{"@odata.id": "/redfish/v1/Chassis/1/Power", "PowerControl": [
 {"MemberId": "0", "Name": "System Power Control", "PowerConsumedWatts": 5120,
  "PowerMetrics": {"IntervalInMin": 1, "AverageConsumedWatts": 5000, "MaxConsumedWatts": 5300}}]}
"""
ENVIRONMENT = b'{"Id": "EnvironmentMetrics", "PowerWatts": {"Reading": 5120.5}, "TemperatureCelsius": {}}\n'


class TestRedfishPower(FormatContract):
    """``Chassis/*/Power``."""

    form = FORMAT
    sample = SAMPLE


class TestRedfishEnvironment(FormatContract):
    """``Chassis/*/EnvironmentMetrics``."""

    form = FORMAT
    sample = ENVIRONMENT


def test_a_power_control_has_a_row():
    """Watts now, and mean and most over the service's own interval."""
    (row,) = reader_of(SAMPLE).summary.rows

    assert dict(row) == {
        "member": "System Power Control",
        "power_watts": 5120.0,
        "mean_power_watts": 5000.0,
        "most_power_watts": 5300.0,
        "interval_seconds": 60.0,
    }


def test_environment_metrics_have_a_row():
    """The same node by the newer resource."""
    (row,) = reader_of(ENVIRONMENT).summary.rows

    assert row["power_watts"] == 5120.5


@pytest.mark.parametrize(
    "data",
    [
        b'{"PowerControl": []}',
        b'{"PowerControl": [{"PowerConsumedWatts": 0}]}',
        b'{"PowerControl": [{"PowerConsumedWatts": null}]}',
        b'{"PowerWatts": {"Reading": -5}}',
        b'{"PowerWatts": {"Reading": 1e300}}',
    ],
)
def test_a_host_that_cannot_measure_has_no_power(data: bytes):
    """It answers 0, nothing, or what no node draws: missing, never 0 W."""
    summary = reader_of(data).summary

    assert [row["power_watts"] for row in summary.rows if row["power_watts"] is not None] == []
    assert "unmeasured" in codes(summary.findings)
