"""One JSON object a line."""

from datetime import UTC

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.json_lines import FORMAT

IN_UTC = Asked(zone=UTC)
SAMPLE = b"""\
{"timestamp": "2026-02-03T04:05:06.700000", "gpu_power_watts": 215.6, "gpu_utilization_percent": 97, "gpu_memory_used_MB": 1300.0}
{"timestamp": "2026-02-03T04:05:07.700000", "gpu_power_watts": null, "gpu_utilization_percent": 98, "gpu_memory_used_MB": NaN}
"""  # noqa: E501


class TestJsonLines(FormatContract):
    """Stamps without zone."""

    form = FORMAT
    sample = SAMPLE
    asked = IN_UTC
    needs_zone = True


def test_every_value_arrives_in_base_units():
    """Names carry the units; null and NaN are missing."""
    (trace,) = recording_of_bytes(SAMPLE, IN_UTC).traces

    assert trace.time_ns.tolist() == [START_NS + 700_000_000, START_NS + 1_700_000_000]
    assert str({name: column.tolist() for name, column in trace.channels.items()}) == str(
        {
            "power_watts": [215.6, float("nan")],
            "gpu_util_ratio": [0.97, 0.98],
            "memory_used_bytes": [1.3e9, float("nan")],
        }
    )


def test_a_line_that_is_no_object_costs_itself():
    """It is counted; a value of another kind costs the value."""
    log = SAMPLE + b'[1]\n{"timestamp": "2026-02-03T04:05:08", "gpu_power_watts": [1]}\n'

    recording = recording_of_bytes(log, IN_UTC)

    assert len(recording.traces[0]) == 3
    assert {"bad-row", "bad-cell"} <= codes(recording.findings)
