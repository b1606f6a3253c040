"""``watch`` on live GPUs, as a real process: workloads found, closed, continued, never lost or doubled."""

import random
import signal
import time

from flopwitness.app.witnessing import detected_sessions
from robustness.node import Node, doubled, killed, stopped, waited_for

EDGE_NS = 900_000_000
"""At 10 Hz an edge lies within 0.2 s of the truth; on a busy machine, within this."""


def test_workloads_are_found_and_kept_where_they_truly_were(node: Node):
    """Each busy stretch of both GPUs is one workload, in the journal and on standard output.

    A second daemon of the same GPUs is refused meanwhile, in one line that names the first.
    """
    daemon = node.watch()
    since_ns = time.time_ns()
    second = node.start("watch", "--json")
    out, _ = second.communicate()
    waited_for(lambda: len(node.entries()) >= 2)
    until_ns = time.time_ns()

    told = stopped(daemon)

    assert (second.returncode, out) == (2, "")
    assert node.said().count("\n") == 1
    assert f"process {daemon.pid}" in node.said()
    truth = list(node.worked(since_ns, until_ns))
    entries = node.entries()
    assert told == entries
    assert doubled(entries) == []
    assert all(entry["devices"] == node.uuids for entry in entries)
    for start_ns, stop_ns in truth:
        (one,) = [entry for entry in entries if entry["start_ns"] < stop_ns and entry["stop_ns"] > start_ns]
        assert abs(one["start_ns"] - start_ns) < EDGE_NS
        assert abs(one["stop_ns"] - stop_ns) < EDGE_NS
    assert len(truth) >= 1


def test_sigterm_closes_open_work_and_a_restart_goes_on_after_it(node: Node):
    """What was seen of the open workload is kept; the rest is the next run's, and no time counts twice."""
    daemon = node.watch()
    node.wait_until_busy(0.7)
    stop_ns = time.time_ns()
    (first, *_) = reversed(stopped(daemon))

    again = node.watch()
    waited_for(lambda: any(entry["start_ns"] > stop_ns for entry in node.entries()))
    stopped(again)

    entries = node.entries()
    assert first["stop_ns"] - stop_ns < EDGE_NS
    assert stop_ns - first["stop_ns"] < EDGE_NS
    assert first in entries
    assert doubled(entries) == []
    assert len(list(node.records.glob("*/samples.parquet"))) == 2


def test_kills_at_random_moments_lose_and_double_nothing(node: Node):
    """SIGKILL three times, then a clean stop: the journal holds what the whole recording shows, once each."""
    chance = random.Random(11)  # noqa: S311  moments, not secrets
    acknowledged = []
    for _ in range(3):
        daemon = node.watch()
        time.sleep(chance.uniform(0.2, 2.5))
        acknowledged += killed(daemon)
    last = node.watch()
    waited_for(lambda: len(node.entries()) > len(acknowledged))

    stopped(last)

    entries = node.entries()
    recording = node.recording()
    assert doubled(entries) == []
    assert [entry for entry in acknowledged if entry not in entries] == []
    expected = {(session.start_ns, session.stop_ns) for session in detected_sessions(recording)}
    assert {(entry["start_ns"], entry["stop_ns"]) for entry in entries} == expected
    seen_ns = [int(recording.traces[0].time_ns[place]) for place in (0, -1)]
    truth = list(node.worked(*seen_ns))
    missed = [
        stretch
        for stretch in truth
        if not any(
            entry["start_ns"] < stretch[0] + EDGE_NS and entry["stop_ns"] > stretch[1] - EDGE_NS
            for entry in entries
        )
    ]
    assert missed == []


def test_whoever_reads_standard_output_may_leave(node: Node):
    """With a journal it goes on, and says so once; without one it closes what is open and ends well."""
    daemon = node.watch()
    assert daemon.stdout is not None
    daemon.stdout.close()
    waited_for(lambda: len(node.entries()) >= 2)
    daemon.send_signal(signal.SIGTERM)

    assert daemon.wait() == 0
    assert node.said().count("\n") == 1
    assert "to the journal alone" in node.said()

    alone = node.start("watch", "--json")
    assert alone.stdout is not None
    alone.stdout.close()

    assert alone.wait() == 0
    assert node.said() == ""
