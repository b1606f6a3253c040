"""The wall clock is set back an hour, while ``watch`` runs and while it does not: no time doubles."""

import time
from pathlib import Path

import numpy as np
import pytest

from robustness.node import Node, doubled, killed, stopped, waited_for

HOUR_NS = 3_600_000_000_000


@pytest.fixture
def clocked(node: Node, clock_library: Path) -> Node:
    """Return a node whose programs see a wall clock that ``set_back`` moves."""
    node.environment |= {"LD_PRELOAD": str(clock_library), "FAKE_CLOCK_FILE": str(node.folder / "offset")}
    return node


def set_back(node: Node) -> None:
    """Set the wall clock of the node an hour back."""
    (node.folder / "new").write_text("-3600")
    (node.folder / "new").rename(node.folder / "offset")


def codes(entry: dict[str, list[dict[str, str]]]) -> list[str]:
    """Return the codes of the findings of a workload."""
    return [finding["code"] for finding in entry["findings"]]


def test_set_back_while_it_runs(clocked: Node):
    """Instants go on; it is said once, in each later workload, and in the recording."""
    daemon = clocked.watch()
    clocked.wait_until_busy(0.6)
    set_ns = time.time_ns()

    set_back(clocked)
    waited_for(lambda: "was set back by 3600.0 s" in clocked.said())
    waited_for(lambda: any(entry["start_ns"] > set_ns for entry in clocked.entries()))
    stopped(daemon)

    entries, recording = clocked.entries(), clocked.recording()
    assert clocked.said().count("\n") == 1
    assert doubled(entries) == []
    assert all("clock-set" in codes(entry) for entry in entries if entry["stop_ns"] > set_ns)
    assert "clock-set" in [finding.code for finding in recording.findings]
    assert max(np.diff(trace.time_ns).max() for trace in recording.traces) < HOUR_NS / 60


def test_set_back_between_a_kill_and_a_restart(clocked: Node):
    """The recording goes on at the true distance, by the monotonic clock; nothing is left out as stale."""
    first = clocked.watch()
    clocked.wait_until_busy(0.6)
    started_ns = time.time_ns()
    kept = killed(first)

    set_back(clocked)
    daemon = clocked.watch()
    again_ns = time.time_ns()
    waited_for(lambda: any(entry["start_ns"] > again_ns for entry in clocked.entries()))
    stopped(daemon)

    entries, recording = clocked.entries(), clocked.recording()
    assert doubled(entries) == []
    assert [entry for entry in kept if entry not in entries] == []
    gap_seconds = float(np.diff(recording.traces[0].time_ns).max()) / 1e9
    assert 0 < gap_seconds < (again_ns - started_ns) / 1e9 + 2
    assert "stale-samples" not in [finding.code for finding in recording.findings]
    truth = clocked.worked(int(recording.traces[0].time_ns[0]), int(recording.traces[0].time_ns[-1]))
    assert [s for s in truth if not any(e["start_ns"] < s[1] and e["stop_ns"] > s[0] for e in entries)] == []


def test_set_back_with_nothing_but_a_journal(clocked: Node):
    """Workloads after the restart are not taken for those that the journal knows: they follow them."""
    first = clocked.watch(record=False)
    waited_for(clocked.entries)
    stopped(first)
    n_before, last_ns = len(clocked.entries()), max(entry["stop_ns"] for entry in clocked.entries())

    set_back(clocked)
    second = clocked.watch(record=False)
    waited_for(lambda: len(clocked.entries()) > n_before)
    stopped(second)

    new = clocked.entries()[n_before:]
    assert "ahead of the clock of this machine" in clocked.said()
    assert doubled(clocked.entries()) == []
    assert all(last_ns < entry["start_ns"] < last_ns + HOUR_NS for entry in new)
    assert all("clock-set" in codes(entry) for entry in new)
