"""Long CSV dumps of Prometheus series."""

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.formats.prometheus_csv import FORMAT

HEADER = (
    "timestamp,metric_name,gpu_id,device,uuid,modelName,Hostname,container,pod,namespace,value,labels_raw\n"
)


def row(
    second: int, metric: str, value: str, *, pod: str = "", more: str = "", uuid: str = "GPU-aaaa"
) -> str:
    """Return a row as the dump quotes it."""
    labels = f'UUID=""{uuid}"",gpu=""0""{more}'
    cells = [f"2026-02-03T04:05:{second:02}Z", metric, "0", "nvidia0", uuid, "NVIDIA H200", "n1", "", pod, ""]
    return ",".join(f'"{cell}"' for cell in [*cells, value, labels]) + "\n"


SAMPLE = "".join(
    [
        HEADER,
        row(6, "DCGM_FI_DEV_POWER_USAGE", "412.1", pod="p1"),
        row(7, "DCGM_FI_DEV_POWER_USAGE", "413.1", pod="p2"),
        row(6, "DCGM_FI_DEV_GPU_UTIL", "97"),
        row(7, "DCGM_FI_DEV_GPU_UTIL", "NaN"),
        row(6, "DCGM_FI_DEV_POWER_USAGE", "80.5", uuid="GPU-bbbb"),
    ]
).encode()


class TestPrometheusCsv(FormatContract):
    """Metric after metric, every cell quoted."""

    form = FORMAT
    sample = SAMPLE


def test_rows_become_columns_of_their_gpus():
    """A dump is in the order of its queries; pods split no GPU, a blank is missing."""
    first, second = recording_of_bytes(SAMPLE).traces

    assert (first.device.uuid, first.device.chip, first.device.host) == ("GPU-aaaa", "H200-SXM", "n1")
    assert first.time_ns.tolist() == [START_NS, START_NS + 10**9]
    assert first["power_watts"].tolist() == [412.1, 413.1]
    assert str(first["gpu_util_ratio"].tolist()) == "[0.97, nan]"
    assert second["power_watts"].tolist() == [80.5]


def test_slices_are_told_by_the_raw_labels():
    """The columns do not name them."""
    text = HEADER + "".join(
        row(6, "DCGM_FI_PROF_SM_ACTIVE", "0.7", more=f',GPU_I_ID=""{n}"",GPU_I_PROFILE=""{profile}""')
        for n, profile in ((1, "3g.40gb"), (5, "1g.10gb"))
    )

    (trace,) = recording_of_bytes(text.encode()).traces

    assert trace["sm_active_ratio"].tolist() == [pytest.approx(0.4)]


def test_a_bad_value_costs_its_cell_and_a_naive_stamp_is_refused():
    """One is counted, the other would need a guess."""
    text = HEADER + row(6, "DCGM_FI_DEV_POWER_USAGE", "x") + row(7, "DCGM_FI_DEV_POWER_USAGE", "5")

    assert "bad-cell" in codes(recording_of_bytes(text.encode()).findings)
    with pytest.raises(BadInputError, match="--tz"):
        recording_of_bytes(text.replace("Z", "").encode())
