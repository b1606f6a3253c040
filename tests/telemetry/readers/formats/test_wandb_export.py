"""Charts exported from W&B's pages."""

import pytest

from contracts.format import START_NS, FormatContract, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.formats.wandb_export import FORMAT

ASKED = Asked(start_ns=START_NS)


def column(run: str, gpu: int) -> str:
    """Return the header of a metric, with what was merged."""
    name = f"{run} - system/gpu.{gpu}.powerWatts"
    return ",".join(f'"{name}{ending}"' for ending in ("", "__MIN", "__MAX"))


SAMPLE = (
    f'"Relative Time (Process)",{column("a, run", 0)},{column("a, run", 1)}\n'
    '"1.5","201.0","200.0","202.0","70","70","70"\n"16.5","203.0","200.0","205.0","","",""\n'
).encode()


class TestWandbExport(FormatContract):
    """One run, two GPUs."""

    form = FORMAT
    sample = SAMPLE
    asked = ASKED


def test_a_chart_is_relative_to_the_start_of_its_run():
    """The least and the most of merged points are not read."""
    first, second = recording_of_bytes(SAMPLE, ASKED).traces

    assert first.time_ns.tolist() == [START_NS + 1_500_000_000, START_NS + 16_500_000_000]
    assert first["power_watts"].tolist() == [201.0, 203.0]
    assert second["power_watts"].tolist() == [70.0]
    with pytest.raises(BadInputError, match="--start"):
        recording_of_bytes(SAMPLE)


def test_gpus_of_several_runs_stay_apart():
    """The same index in two runs is two devices."""
    log = f'"Relative Time (Wall)",{column("x", 0)},{column("y", 0)}\n1,5,5,5,6,6,6\n'.encode()

    assert [t.device.uuid for t in recording_of_bytes(log, ASKED).traces] == [
        "some-upload:x:0",
        "some-upload:y:0",
    ]


def test_a_chart_over_steps_is_refused():
    """It has no time."""
    with pytest.raises(BadInputError, match="relative time"):
        recording_of_bytes(SAMPLE.replace(b"Relative Time (Process)", b"Step"), ASKED)
