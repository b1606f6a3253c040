"""What was lost is counted once and said once."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from contracts.detector import GPU_A, pieces_at
from flopwitness.app.losses import LostGpus, LostSamples
from flopwitness.app.opening import open_recording
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.detect.lost import lost_samples

SECOND = 1_000_000_000
NODE_A = Path(__file__).parents[2] / "datasets" / "h200x2-a"
LOOKS = {"busy": (0.4, 0.8, 0.3), "zeros": (0.0, 0.0, np.nan), "quiet": (0.0, 0.0, 0.0)}
CHANNELS = ("tensor_active_ratio", "sm_active_ratio", "dram_active_ratio")


def trace_of(names: list[str]) -> Trace:
    """Return a trace with one look a second."""
    rows = np.array([LOOKS[name] for name in names]).reshape(-1, 3)
    stamps = np.arange(len(names)) * SECOND
    return Trace(GPU_A, stamps, dict(zip(CHANNELS, rows.T, strict=True)))


def test_a_gpu_that_stays_away_is_said_once():
    """Another reason on the way is no second loss."""
    gpus = LostGpus()

    lines = [
        gpus.note({"GPU-a": why}, at * SECOND) for at, why in enumerate(("fell off the bus", "GPU is lost"))
    ]

    (finding,) = gpus.findings()
    assert lines == [("GPU GPU-a is lost: fell off the bus",), ()]
    assert finding.message == "GPU GPU-a was lost and did not come back: fell off the bus"
    assert (finding.start_ns, finding.stop_ns) == (0, SECOND)


def test_losses_add_up_to_one_finding_a_gpu():
    """A GPU that flaps for a month takes no more room than one that went once."""
    gpus = LostGpus()
    for at in range(0, 100, 2):
        gpus.note({"GPU-a": "GPU is lost"}, at * SECOND)
        gpus.note({}, (at + 1) * SECOND)

    (finding,) = gpus.findings()
    assert finding.message == "GPU GPU-a was lost 50 times, in all for 50.0 s: GPU is lost"


@given(
    names=st.lists(st.sampled_from(sorted(LOOKS)), min_size=1, max_size=30),
    cuts=st.sets(st.integers(1, 29)),
)
def test_lost_samples_are_counted_the_same_however_the_stream_was_cut(names: list[str], cuts: set[int]):
    """Whole, the rule looks at both neighbours; in pieces as well. The last sample waits for its next."""
    whole = trace_of([*names, "busy"])
    counter = LostSamples()
    for piece in pieces_at(whole, cuts):
        list(counter.passing([(piece,)]))
    session = Session(0, int(whole.time_ns[-1]), (Trace(GPU_A, [], {}),))

    expected = int(lost_samples(whole).sum())

    found = counter.findings(session)
    assert [f"gave {expected} profiling" in finding.message for finding in found] == [True] * bool(expected)


def test_those_of_a_real_node_are_counted():
    """Sample by sample, two H200s: as many as the whole recording shows."""
    recording = open_recording(NODE_A)
    counter = LostSamples()
    for trace in recording.traces:
        list(counter.passing([(piece,) for piece in pieces_at(trace, range(0, len(trace), 9))]))
    start_ns = min(int(trace.time_ns[0]) for trace in recording.traces)
    stop_ns = max(int(trace.time_ns[-1]) for trace in recording.traces)

    found = counter.findings(Session(start_ns, stop_ns, tuple(recording.traces)))

    counts = [int(lost_samples(trace).sum()) for trace in recording.traces]
    assert [one.message.split()[3] for one in found] == [str(n) for n in counts if n]
    assert sum(counts) > 0
