"""Spliced recordings hold the samples of their parts, in order, with pauses of idle samples between."""

import numpy as np
import pytest

from contracts.detector import GPU_B, START_NS
from detect.jobs.made import DENSE, GIB, IDLE, SECOND, stretches_of
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.evaluate.splices import Part, PauseMemory, spliced

STRETCHES = ((IDLE, 5, 1), (DENSE, 10, 40), (IDLE, 5, 2))
RECORDING = Recording(
    "made", (stretches_of(*STRETCHES), stretches_of(*STRETCHES, device=GPU_B)), Provenance("made")
)
WORK = (START_NS + 5 * SECOND + 1, START_NS + 15 * SECOND)
IDLE_NS = (START_NS + 15 * SECOND + 1, START_NS + 20 * SECOND)


def part(memory: PauseMemory = PauseMemory.RECORDED, pause_seconds: float = 12.0) -> Part:
    """Return the work of the recording with a pause of its idle end."""
    return Part(RECORDING, WORK, IDLE_NS, pause_seconds=pause_seconds, memory=memory, name="dense")


def test_parts_lie_where_it_says():
    """Each holds its own samples bit for bit, on every device."""
    made = spliced([part(), part()])

    assert [name for name, _, _ in made.parts] == ["dense", "dense"]
    for trace, source in zip(made.recording.traces, RECORDING.traces, strict=True):
        for _, start_ns, stop_ns in made.parts:
            found, expected = trace.within(start_ns, stop_ns), source.within(*WORK)
            np.testing.assert_array_equal(found["tensor_active_ratio"], expected["tensor_active_ratio"])
    (_, _, stop_ns), (_, start_ns, _) = made.parts
    assert start_ns - stop_ns == 12 * SECOND


@pytest.mark.parametrize(
    ("memory", "gib"), [(PauseMemory.RECORDED, 2), (PauseMemory.HELD, 40), (PauseMemory.FREED, 1)]
)
def test_a_pause_is_idle_with_the_memory_that_was_asked_for(memory: PauseMemory, gib: float):
    """Samples at the recording's interval, a longer pause by repeating them."""
    made = spliced([part(memory)])
    (_, _, stop_ns) = made.parts[0]

    pause = made.recording.traces[0].within(stop_ns + 1, stop_ns + 12 * SECOND)

    assert len(pause) == 119
    assert (pause["tensor_active_ratio"] == 0).all()
    assert (pause["memory_used_bytes"] == gib * GIB).all()


@pytest.mark.parametrize(
    "changes", [{"work_ns": (5, 5)}, {"idle_ns": (5, 5)}, {"pause_seconds": 0.0}, {"pause_seconds": np.nan}]
)
def test_no_work_or_no_pause_is_refused(changes: dict):
    """A part has both."""
    with pytest.raises(InvalidNounError):
        Part(RECORDING, **({"work_ns": WORK, "idle_ns": IDLE_NS, "pause_seconds": 6.0} | changes))
