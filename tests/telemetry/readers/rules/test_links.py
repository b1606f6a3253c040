"""NVLink at 0 on GPUs that work in step."""

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.links import without_silent_links
from plain_traces import noted, plain_trace

BUSY = np.array([0.0] * 5 + [0.9] * 20 + [0.0] * 5)


def gpus(*activities: np.ndarray, chip: str = "unknown", nvlink: float = 0.0) -> list[Trace]:
    """Return one GPU an activity."""
    return [
        plain_trace(
            np.arange(30) + number / 100,
            uuid=f"GPU-{number}",
            chip=chip,
            gpu_util_ratio=busy,
            nvlink_tx_bytes_per_second=nvlink,
        )
        for number, busy in enumerate(activities)
    ]


def unknown(traces: list[Trace], notes: Notes) -> list[str]:
    """Return the GPUs whose links were taken out."""
    found = without_silent_links(traces, notes)
    return [trace.device.uuid for trace in found if np.isnan(trace["nvlink_tx_bytes_per_second"]).all()]


def test_zero_throughout_on_gpus_that_work_in_step_is_unknown():
    """One finding for the host."""
    notes = Notes()

    assert unknown(gpus(BUSY, BUSY, BUSY), notes) == ["GPU-0", "GPU-1", "GPU-2"]
    assert noted(notes) == {"communication-unknown": 1}


def test_a_zero_that_can_be_true_stays():
    """A single busy GPU, GPUs at other times, chips without NVLink, links that carried something."""
    idle, other = np.zeros(30), np.roll(BUSY, 15)

    for traces in (
        gpus(BUSY, idle),
        gpus(BUSY, other),
        gpus(idle, idle),
        gpus(BUSY, BUSY, chip="L40S"),
        gpus(BUSY, BUSY, nvlink=1e9),
    ):
        assert unknown(traces, Notes()) == []
