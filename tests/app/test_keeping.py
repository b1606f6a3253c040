"""A finished workload is kept once; what the journal held is known after a restart."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from contracts.detector import GPU_A, GPU_B
from flopwitness.app.daemon import Finished
from flopwitness.app.keeping import BASELINES, Kept, Told
from flopwitness.app.tally import stub_session
from flopwitness.app.witnessing import Witnessed
from flopwitness.core.session import Session
from flopwitness.detect.jobs.signature import SIGNALS

SECOND = 1_000_000_000


def session_of(start: int, stop: int, devices: tuple = (GPU_A, GPU_B), name: str = "") -> Session:
    """Return a session without samples."""
    return stub_session(start * SECOND, stop * SECOND, devices, name)


def entry_of(finished: Finished) -> dict[str, object]:
    """Return what the journal needs of a workload."""
    session = finished.witnessed.session
    return {
        "session_id": session.session_id,
        "name": session.name,
        "devices": [trace.device.uuid for trace in session.traces],
        "start_ns": session.start_ns,
        "stop_ns": session.stop_ns,
    }


def kept_in(folder: Path, *sessions: Session) -> Kept:
    """Return a journal in a folder, opened again after these were kept."""
    kept = Kept(folder / "state" / "j.jsonl", entry_of)
    for session in sessions:
        kept.keep(Finished(Witnessed(session, {}, ()), 0))
    return Kept(folder / "state" / "j.jsonl", entry_of)


def test_work_of_the_same_gpus_that_overlaps_is_known(tmp_path: Path):
    """By time, GPU and name; beside it in time, on a GPU more or under another name it is new."""
    kept = kept_in(tmp_path, session_of(10, 20))

    assert kept.is_known(session_of(15, 21))
    assert kept.is_known(session_of(10, 20, (GPU_A,)))
    assert not kept.is_known(session_of(20, 25))
    assert not kept.is_known(session_of(15, 21, name="stalled"))
    assert (tmp_path / "state" / BASELINES).exists()


def test_the_last_instant_is_that_of_the_devices_asked_for(tmp_path: Path):
    """What another machine's GPUs did says nothing of these."""
    kept = kept_in(tmp_path, session_of(10, 20), session_of(30, 40, (GPU_B,)))

    assert kept.last_ns([GPU_A.uuid]) == 20 * SECOND
    assert kept.last_ns([GPU_A.uuid, GPU_B.uuid]) == 40 * SECOND
    assert kept.last_ns(["GPU-c"]) is None


def test_jobs_go_on_from_the_journal(tmp_path: Path):
    """A later job of another program is the next number, not the first again."""
    mark = {"hosts": {GPU_A.uuid: ""}, "signature": [0.0] * len(SIGNALS), "level_bytes": {}}
    job = {"job_id": "x", "number": 7, "n_sessions": 2, "mark": mark, "flop": {}}
    kept = Kept(tmp_path / "j.jsonl", lambda finished: {**entry_of(finished), "job": job})
    kept.keep(Finished(Witnessed(session_of(10, 20), {}, ()), 0))

    again = Kept(tmp_path / "j.jsonl", entry_of)

    assert again.jobs.add(session_of(5000, 5010), {}).placed.number == 8


class MemoryLedger:
    """A ledger in memory that holds what it was opened with."""

    def __init__(self, folder: Path, *held: Session) -> None:
        self.path = folder / "ledger"
        self.held = [entry_of(Finished(Witnessed(session, {}, ()), 0)) | {"job": None} for session in held]
        self.told = Told()
        for entry in self.held:
            self.told.add(entry)
        self.kept: list[str] = []

    def sessions(self) -> Iterable[Mapping[str, Any]]:
        """Return what it was opened with."""
        return self.held

    def knows(self, session: Session) -> bool:
        """Say whether it was opened with it."""
        return session in self.told

    def last_ns(self, uuids: Collection[str]) -> int | None:
        """Return the last instant of its work."""
        return self.told.last_ns(uuids)

    def keep(self, finished: Finished, entry: Mapping[str, Any]) -> None:
        """Remember a workload."""
        assert entry["session_id"] == finished.witnessed.session.session_id
        self.kept.append(finished.witnessed.session.session_id)


def test_a_ledger_keeps_what_a_journal_does(tmp_path: Path):
    """Each workload once in each; the baselines lie beside."""
    one, other = session_of(10, 20), session_of(30, 40)
    ledger = MemoryLedger(tmp_path, one)
    kept = Kept(tmp_path / "j.jsonl", entry_of, ledger=ledger)

    for session in (one, other):
        assert not kept.is_known(session)
        kept.keep(Finished(Witnessed(session, {}, ()), 0))

    assert ledger.kept == [other.session_id]
    again = Kept(tmp_path / "j.jsonl", entry_of, ledger=ledger)
    assert again.is_known(one)
    assert again.is_known(other)


def test_a_ledger_alone_says_what_was_told(tmp_path: Path):
    """Without a journal it stands in for one."""
    ledger = MemoryLedger(tmp_path, session_of(10, 20))
    kept = Kept(None, entry_of, ledger=ledger)

    assert kept.is_known(session_of(15, 21))
    assert kept.last_ns([GPU_A.uuid]) == 20 * SECOND
    kept.keep(Finished(Witnessed(session_of(30, 40), {}, ()), 0))
    assert (tmp_path / BASELINES).exists()


def test_without_a_journal_nothing_is_written(tmp_path: Path):
    """The latest entry is there all the same, to be shown."""
    kept = Kept(None, entry_of)
    kept.keep(Finished(Witnessed(session_of(1, 2), {}, ()), 0))

    assert kept.latest["start_ns"] == SECOND
    assert list(tmp_path.iterdir()) == []
