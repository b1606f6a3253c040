"""The disk is full while ``watch`` runs live: one line, status 2, nothing broken, and it can go on."""

import os
import time
from pathlib import Path

from flopwitness.app.witnessing import detected_sessions
from robustness.node import Node, doubled, stopped, waited_for
from tiny_disk import tiny_disk


def filled(disk: Path) -> Path:
    """Take all room but a few pages, and return what takes it."""
    ballast = disk / "ballast"
    free = os.statvfs(disk)
    ballast.write_bytes(b"\0" * (free.f_bavail * free.f_frsize - 3 * free.f_frsize))
    return ballast


def test_a_full_disk_ends_it_in_one_line_and_freed_space_lets_it_go_on(node: Node, tmp_path: Path):
    """What was written stays readable; after a restart the journal holds what the recording shows, once."""
    with tiny_disk(tmp_path / "tiny", size="2m") as disk:
        node.journal, node.records = disk / "journal.jsonl", disk / "records"
        daemon = node.watch()
        waited_for(node.entries)

        ballast = filled(disk)
        out, _ = daemon.communicate()

        kept, before = node.entries(), node.recording()
        assert daemon.returncode == 2
        assert node.said().count("\n") == 1
        assert node.said().startswith("flopwitness: ")
        assert "no space left on device" in node.said()
        assert out.count("\n") == len(kept) > 0
        assert len(before.traces[0]) > 0
        assert list(node.records.rglob("*.tmp")) == []

        ballast.unlink()
        freed_ns = time.time_ns()
        again = node.watch()
        waited_for(lambda: any(entry["start_ns"] > freed_ns for entry in node.entries()))
        stopped(again)

        entries, recording = node.entries(), node.recording()
        assert entries[: len(kept)] == kept
        assert doubled(entries) == []
        expected = {(session.start_ns, session.stop_ns) for session in detected_sessions(recording)}
        assert {(entry["start_ns"], entry["stop_ns"]) for entry in entries} == expected
        parts = [
            trace.within(int(trace.time_ns[0]), int(old.time_ns[-1]))
            for trace, old in zip(recording.traces, before.traces, strict=True)
        ]
        assert [len(part) for part in parts] == [len(old) for old in before.traces]
