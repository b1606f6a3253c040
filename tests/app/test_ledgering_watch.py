"""What a daemon writes into its ledger: nothing lost, nothing doubled, and every restart to be seen."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from contracts.detector import GPU_A, GPU_B
from flopwitness.app.cli.watch import run as run_watch
from flopwitness.app.daemon import Finished
from flopwitness.app.ledgering import checked_ledger, evidence_of, sound_entries
from flopwitness.app.ledgering_samples import matched_samples
from flopwitness.app.ledgering_watch import WatchFacts, WatchLedger
from flopwitness.app.opening import open_recording, shipped_calibration
from flopwitness.app.tally import stub_session
from flopwitness.app.witnessing import Witnessed, detected_sessions
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.storage.keys import new_key
from flopwitness.verify.ledger.entries import Entry, EntryKind
from flopwitness.verify.ledger.evidence import spans_of

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
NODE_B, HANG = DATASETS / "h200x2-b", DATASETS / "h200x2-hang"
SECOND = 1_000_000_000
HOUR = 3600

PROGRAM = """
import sys
from pathlib import Path
from flopwitness.app.cli.watch import run
folder = Path(sys.argv[2])
places = dict(record=folder / "rec", ledger=folder / "ledger", ledger_key=folder / "key")
if sys.argv[4] == "journal":
    places["journal"] = folder / "journal"
sys.exit(run(replay=Path(sys.argv[1]), speed=float(sys.argv[3]), json=True, **places))
"""


def facts(**changes: object) -> WatchFacts:
    """Return what is watched."""
    made = {
        "devices": (GPU_A, GPU_B),
        "provenance": Provenance("made", driver="580"),
        "calibration_for": lambda _: shipped_calibration(["H200-SXM"]),
        "interval_seconds": 0.1,
        "findings_of": lambda finished: finished.witnessed.findings,
    }
    return WatchFacts(**(made | changes))  # type: ignore[arg-type]


def opened(folder: Path, **changes: object) -> WatchLedger:
    """Return the ledger of a folder, with its key."""
    if not (folder / "key").exists():
        new_key(folder / "key")
    return WatchLedger(folder / "ledger", folder / "key", facts(**changes))


def batch(*instants: float, device: Device = GPU_A) -> tuple[Trace, ...]:
    """Return samples at some seconds."""
    time_ns = np.round(np.array(instants) * SECOND).astype(np.int64)
    return (Trace(device, time_ns, {"power_watts": np.full(len(instants), 80.0)}),)


def fed(book: WatchLedger, *batches: tuple[Trace, ...]) -> None:
    """Pass batches by."""
    assert list(book.passing(batches)) == list(batches)


def finished(start: int, stop: int, device: Device = GPU_A) -> Finished:
    """Return a workload without estimates."""
    session = stub_session(start * SECOND, stop * SECOND, (device,), "")
    return Finished(Witnessed(session, {}, ()), 5)


def kinds(folder: Path) -> list[str]:
    """Return the kinds of a ledger's entries, checkpoints left out; it must be sound."""
    return [entry.kind.value for entry in entries(folder) if entry.kind is not EntryKind.CHECKPOINT]


def entries(folder: Path) -> tuple[Entry, ...]:
    """Return the entries of a ledger, which must be sound."""
    return sound_entries(folder / "ledger")


def of_kind(folder: Path, kind: EntryKind) -> list[Entry]:
    """Return the entries of one kind."""
    return [entry for entry in entries(folder) if entry.kind is kind]


def test_a_start_says_what_is_watched_and_what_came_before(tmp_path: Path):
    """After a clean stop, and after a daemon that was killed."""
    with opened(tmp_path):
        pass
    killed = opened(tmp_path)
    killed._writer.close()
    with opened(tmp_path):
        pass

    first, second, third = (entry.body for entry in of_kind(tmp_path, EntryKind.START))
    assert kinds(tmp_path) == ["genesis", "start", "calibration", "stop", "start", "start", "stop"]
    assert first["before"] is None
    assert (second["before"]["kind"], second["before"]["was_stopped"]) == ("stop", True)
    assert (third["before"]["kind"], third["before"]["was_stopped"]) == ("start", False)
    assert [one["uuid"] for one in first["devices"]] == [GPU_A.uuid, GPU_B.uuid]
    assert first["driver"] == "580"
    assert len(first["calibrations"]["H200-SXM"]) == 64


def test_a_calibration_is_written_when_it_changes(tmp_path: Path):
    """With the digest of the one before."""
    first = shipped_calibration(["H200-SXM"])
    for payload in (first, first, type(first).from_payload(first.to_payload() | {"n_runs": 7})):
        with opened(tmp_path, calibration_for=lambda _, made=payload: made):
            pass

    one, other = (entry.body for entry in of_kind(tmp_path, EntryKind.CALIBRATION))
    assert one["before_sha256"] is None
    assert (other["before_sha256"], other["n_runs"]) == (one["sha256"], 7)


def test_a_gap_of_a_device_is_written(tmp_path: Path):
    """From its last sample to its next; what was seen until then comes with it."""
    with opened(tmp_path) as book:
        fed(book, batch(0, 1, 2), batch(0, 1, device=GPU_B), batch(10, 11), batch(2, 3, device=GPU_B))

    (gap,) = of_kind(tmp_path, EntryKind.GAP)
    assert (gap.body["device"], gap.body["start_ns"], gap.body["stop_ns"]) == (
        GPU_A.uuid,
        str(2 * SECOND),
        str(10 * SECOND),
    )
    _, watches = evidence_of(entries(tmp_path))
    assert {watch.device: watch.stretches for watch in watches} == {
        GPU_A.uuid: ((0, 2 * SECOND), (10 * SECOND, 11 * SECOND)),
        GPU_B.uuid: ((0, 3 * SECOND),),
    }


def test_the_same_gap_is_written_once(tmp_path: Path):
    """After a restart a recording is read again."""
    for _ in range(2):
        book = opened(tmp_path)
        fed(book, batch(0, 1, 2, 10))
        book._writer.close()

    assert len(of_kind(tmp_path, EntryKind.GAP)) == 1


def test_the_time_between_two_daemons_is_a_gap(tmp_path: Path):
    """It was not watched, whoever stopped the first."""
    with opened(tmp_path) as book:
        fed(book, batch(0, 1))
    with opened(tmp_path) as book:
        fed(book, batch(60, 61))

    assert kinds(tmp_path)[-3:] == ["start", "gap", "stop"]
    _, (watch,) = evidence_of(entries(tmp_path))
    assert watch.stretches == ((0, SECOND), (60 * SECOND, 61 * SECOND))


def test_a_workload_is_kept_with_the_samples_until_then(tmp_path: Path):
    """Its samples have digests, and are not told again."""
    with opened(tmp_path) as book:
        fed(book, batch(0, 1, 2))
        book.keep(finished(0, 1), {"job": {"job_id": "j", "number": 1, "flop": {"big": 1}}})
        fed(book, batch(3, 4))

    (session,) = of_kind(tmp_path, EntryKind.SESSION)
    assert session.body["job"] == {"job_id": "j", "number": 1}
    assert session.body["n_samples"] == 5
    assert [span.n_samples for entry in entries(tmp_path) for span in spans_of(entry)] == [3, 2]
    ((evidence,), _) = evidence_of(entries(tmp_path), source="x")
    assert (evidence.start_ns, evidence.stop_ns, evidence.source) == (0, SECOND, "x")


def test_what_was_kept_is_known_after_a_restart(tmp_path: Path):
    """By device and time, as a journal knows it; not within the daemon that keeps it."""
    with opened(tmp_path) as book:
        fed(book, batch(0, 1, 2))
        book.keep(finished(0, 2), {"job": None})
        assert not book.knows(finished(0, 2).witnessed.session)

    with opened(tmp_path) as again:
        assert again.knows(finished(1, 3).witnessed.session)
        assert not again.knows(finished(1, 3, GPU_B).witnessed.session)
        assert [one["start_ns"] for one in again.sessions()] == [0]
        assert again.last_ns([GPU_A.uuid]) == 2 * SECOND
        assert again.last_ns([GPU_B.uuid]) is None


def test_an_hour_without_an_entry_is_told(tmp_path: Path):
    """A kill then leaves no more than that in doubt."""
    book = opened(tmp_path)
    fed(book, *(batch(*range(start, start + 60)) for start in range(0, 2 * HOUR + 300, 60)))
    book._writer.close()

    assert kinds(tmp_path).count("watched") == 2
    _, (watch,) = evidence_of(entries(tmp_path))
    assert watch.stretches[0][1] > 2 * HOUR * SECOND


def test_what_ends_a_daemon_is_told(tmp_path: Path):
    """An error by its name; the ledger is closed all the same."""
    with pytest.raises(BadInputError, match="no room"), opened(tmp_path):
        raise BadInputError("disk", "", expected="room", got="no room")
    with opened(tmp_path):
        pass

    assert [entry.body["reason"] for entry in of_kind(tmp_path, EntryKind.STOP)] == ["BadInputError", "ended"]


def test_a_ledger_holds_what_watch_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Same sessions, estimates and findings; the recording has the samples that it vouches for."""
    new_key(tmp_path / "key")
    places = {"ledger": tmp_path / "ledger", "ledger_key": tmp_path / "key", "record": tmp_path / "rec"}
    run_watch(replay=HANG, json=True, **places)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (recording,) = (tmp_path / "rec").iterdir()

    sessions, watches = evidence_of(entries(tmp_path))

    assert [one.session_id for one in sessions] == [line["session_id"] for line in told]
    for one, line in zip(sessions, told, strict=True):
        for target, by_name in one.estimates.items():
            for name, estimate in by_name.items():
                shown = line["estimates"][name]["targets"][target.value]
                assert estimate.point_flop == shown["point_flop"]
                assert estimate.most_flop == (shown["most_flop"] or float("inf"))
        assert [found.message for found in one.findings] == [found["message"] for found in line["findings"]]
        assert one.energy_joules > 0
    trace = open_recording(HANG).traces[0]
    assert watches[0].stretches == ((int(trace.time_ns[0]), int(trace.time_ns[-1])),)
    match = matched_samples(entries(tmp_path), open_recording(recording))
    assert (match.altered, match.n_elsewhere) == ((), 0)
    assert len(of_kind(tmp_path, EntryKind.STOP)[0].body["recording_sha256"]) == 64


def test_altered_samples_are_found(tmp_path: Path):
    """A recording that was changed after the ledger was written."""
    with opened(tmp_path) as book:
        fed(book, batch(0, 1, 2))
    (piece,) = batch(0, 1, 2)
    changed = Trace(GPU_A, piece.time_ns, {"power_watts": [80.0, 80.0, 81.0]})

    def match(trace: Trace) -> tuple[int, int, int]:
        recording = Recording("r", (trace,), Provenance("made"))
        found = matched_samples(entries(tmp_path), recording)
        return found.n_alike, len(found.altered), found.n_elsewhere

    assert match(piece) == (1, 0, 0)
    assert match(changed) == (0, 1, 0)
    assert match(piece.between(0, 2)) == (0, 1, 0)
    assert match(*batch(0, 1, 2, device=GPU_B)) == (0, 0, 1)


@pytest.mark.parametrize("journal", ["journal", "none"])
def test_a_daemon_that_is_killed_again_and_again_loses_and_doubles_nothing(tmp_path: Path, journal: str):
    """SIGKILL at random moments: each workload once, each restart to be seen, with a journal and without."""
    new_key(tmp_path / "key")
    chance = random.Random(5)  # noqa: S311  moments, not secrets
    told: list[str] = []

    def started(speed: float) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PROGRAM, str(NODE_B), str(tmp_path), str(speed), journal]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    for _ in range(4):
        daemon = started(60)
        time.sleep(chance.uniform(1.0, 2.5))
        daemon.send_signal(signal.SIGKILL)
        said, _ = daemon.communicate()
        told += [json.loads(line)["session_id"] for line in said.splitlines(keepends=True) if "\n" in line]
    started(0).communicate()

    kept = [entry.body["session_id"] for entry in of_kind(tmp_path, EntryKind.SESSION)]
    assert kept == [session.session_id for session in detected_sessions(open_recording(NODE_B))]
    assert set(told) <= set(kept)
    assert checked_ledger(tmp_path / "ledger", thorough=True).faults == ()
    starts = [entry.body["before"] for entry in of_kind(tmp_path, EntryKind.START)]
    assert all(not before["was_stopped"] for before in starts if before)
    assert len(of_kind(tmp_path, EntryKind.STOP)) == 1
    (recording,) = (tmp_path / "rec").iterdir()
    match = matched_samples(entries(tmp_path), open_recording(recording))
    assert (match.altered, match.n_elsewhere) == ((), 0)
    _, watches = evidence_of(entries(tmp_path))
    traces = open_recording(NODE_B).traces
    assert [(watch.stretches[0][0], watch.stretches[-1][1]) for watch in watches] == [
        (int(trace.time_ns[0]), int(trace.time_ns[-1])) for trace in traces
    ]
