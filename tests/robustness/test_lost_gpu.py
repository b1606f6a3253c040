"""One GPU is lost, or hangs, in the middle of its work: the other goes on, and what nobody saw is bounded."""

import time
from math import inf

import numpy as np

from robustness.node import Node, doubled, stopped, waited_for


def test_a_gpu_that_is_lost_and_comes_back_costs_its_own_time_alone(node: Node):
    """One line when it goes and one when it is back; its silence is inside its workload, as unobserved."""
    daemon = node.watch()
    node.wait_until_busy(0.6)

    (node.control / "lost-1").touch()
    lost_ns = time.time_ns()
    waited_for(lambda: f"GPU {node.uuids[1]} is lost: GPU is lost\n" in node.said())
    waited_for(lambda: time.time_ns() - lost_ns > 4.5e9)
    (node.control / "lost-1").unlink()
    waited_for(lambda: f"GPU {node.uuids[1]} is back after" in node.said())
    back_ns = time.time_ns()
    waited_for(lambda: any(node.uuids[1] in e["devices"] and e["stop_ns"] > back_ns for e in node.entries()))
    stopped(daemon)

    entries, (first, second) = node.entries(), node.recording().traces
    assert node.said().count("\n") == 2
    assert doubled(entries) == []
    assert len(first.within(lost_ns, back_ns)) > 10
    assert np.diff(second.time_ns).max() > 4e9
    (gap,) = [e for e in entries if node.uuids[1] in e["devices"] and e["start_ns"] < lost_ns < e["stop_ns"]]
    assert gap["stop_ns"] > back_ns - 1_500_000_000
    assert "unobserved-time" in [finding["code"] for finding in gap["findings"]]
    bounds = [one["high_flop"] / one["low_flop"] for one in gap["estimates"].values() if one["high_flop"]]
    assert all(1.2 < ratio < inf for ratio in bounds)
    (finding,) = [each for each in node.recording().findings if each.code == "lost-device"]
    assert finding.subject == node.uuids[1]
    assert "once, for" in finding.message


def test_a_hung_gpu_stops_neither_the_other_nor_the_end(node: Node):
    """The driver does not come back: said in one line; SIGTERM still closes and seals."""
    daemon = node.watch()
    (node.control / "hang-0").touch()
    waited_for(lambda: f"GPU {node.uuids[0]} is lost: no answer within" in node.said())
    hung_ns = time.time_ns()
    n_then = len(node.n_appended())
    waited_for(lambda: len(node.n_appended()) > n_then + 2)

    stopped(daemon)

    (first, second) = node.recording().traces
    assert second.time_ns[-1] > hung_ns > first.time_ns[-1]
    assert "lost-device" in [finding.code for finding in node.recording().findings]


def test_record_goes_on_without_a_lost_gpu(node: Node):
    """Both are in the sealed recording, each as far as it answered, and the loss is named in it."""
    recorder = node.start("record", "--output", node.records / "r")
    waited_for(node.n_appended)
    (node.control / "lost-0").touch()
    waited_for(lambda: f"GPU {node.uuids[0]} is lost" in node.said())
    n_then = node.n_appended()
    waited_for(lambda: len(node.n_appended()) > len(n_then) + 1)

    recorder.terminate()
    recorder.communicate()

    recording = node.recording()
    first, second = recording.traces
    assert recorder.returncode == 0
    assert 0 < len(first) < len(second)
    (finding,) = [each for each in recording.findings if each.code == "lost-device"]
    assert finding.message.endswith("did not come back: GPU is lost")
