"""``watch --replay``: real processes, killed at random moments; no finished workload lost or doubled."""

import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flopwitness.app.cli.estimate import run as run_estimate
from flopwitness.app.cli.watch import DetectorName
from flopwitness.app.cli.watch import run as run_watch
from flopwitness.app.keeping import BASELINES
from flopwitness.core.errors import BadInputError
from flopwitness.storage.recordings import read_recording
from tiny_disk import tiny_disk

DATASETS = Path(__file__).resolve().parents[3] / "datasets"
NODE_B, HANG = DATASETS / "h200x2-b", DATASETS / "h200x2-hang"

PROGRAM = """
import sys
from pathlib import Path
from flopwitness.app.cli.watch import run
journal, record = Path(sys.argv[2]), Path(sys.argv[3])
sys.exit(run(replay=Path(sys.argv[1]), journal=journal, record=record, speed=float(sys.argv[4]), json=True))
"""


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """Return the JSON lines that were printed."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def ids_in(journal: Path) -> list[str]:
    """Return the sessions in a journal."""
    return [json.loads(line)["session_id"] for line in journal.read_text().splitlines()]


def started(folder: Path, *, speed: float) -> subprocess.Popen[str]:
    """Start a daemon on a replay, with its journal and recording in a folder."""
    arguments = [str(NODE_B), str(folder / "j.jsonl"), str(folder / "rec"), str(speed)]
    return subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)


def test_it_prints_what_estimate_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """One line a workload, the same sessions; the journal holds the same lines."""
    run_estimate(HANG, json=True)
    expected = lines_of(capsys)

    assert run_watch(replay=HANG, journal=tmp_path / "j.jsonl", record=tmp_path / "rec", json=True) == 0

    found = lines_of(capsys)
    keys = ("session_id", "name", "start", "end", "devices", "n_samples", "target")
    assert [[one[key] for key in keys] for one in found] == [[one[key] for key in keys] for one in expected]
    assert [json.loads(line) for line in (tmp_path / "j.jsonl").read_text().splitlines()] == found
    assert (tmp_path / BASELINES).exists()
    (recorded,) = (tmp_path / "rec").glob("*/samples.parquet")
    assert read_recording(recorded).traces == read_recording(HANG / "samples.parquet").traces


def test_lines_for_people_name_the_figures(capsys: pytest.CaptureFixture[str]):
    """Start, length, GPUs, FLOP with bounds, method, the most of a hostile run; then what is to be known.

    The first stretch is a program that starts and multiplies next to nothing: nothing tells its format.
    """
    run_watch(replay=HANG, once=True)

    (line,) = capsys.readouterr().out.splitlines()
    number = r"\d\.\d+e\+\d\d"
    figures = rf"{number} FLOP \[{number}, {number}\] fused, at most {number} if hostile"
    assert re.search(rf": 1\.3 s on 2 GPUs, work: unknown, {figures} \(format-not-identified\)$", line)


def test_the_most_of_a_hostile_run_is_in_the_journal_too(capsys: pytest.CaptureFixture[str]):
    """For each target; null where a method can be steered without limit."""
    run_watch(replay=HANG, once=True, json=True)

    (line,) = lines_of(capsys)
    by_target = line["estimates"]["fused"]["targets"].values()
    assert all(one["most_flop"] is None or one["most_flop"] >= one["high_flop"] for one in by_target)
    assert line["estimates"]["linear-power"]["most_flop"] is None


def test_the_experiments_detector_is_at_hand(capsys: pytest.CaptureFixture[str]):
    """Polls of utilisation take the deadlock for one long job."""
    run_watch(replay=HANG, detector=DetectorName.EXPERIMENT, json=True)

    assert max(one["stop_ns"] - one["start_ns"] for one in lines_of(capsys)) > 300e9


def test_a_daemon_that_is_killed_again_and_again_loses_and_doubles_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """SIGKILL at random moments, then a run to the end: the journal holds each workload once."""
    run_estimate(NODE_B, json=True)
    expected = [one["session_id"] for one in lines_of(capsys)]
    chance = random.Random(3)  # noqa: S311  moments, not secrets
    acknowledged: list[str] = []
    for _ in range(4):
        daemon = started(tmp_path, speed=60)
        time.sleep(chance.uniform(1.0, 2.5))
        daemon.send_signal(signal.SIGKILL)
        said, _ = daemon.communicate()
        acknowledged += [
            json.loads(line)["session_id"] for line in said.splitlines(keepends=True) if "\n" in line
        ]

    said, _ = started(tmp_path, speed=0).communicate()

    assert ids_in(tmp_path / "j.jsonl") == expected
    assert set(acknowledged) <= set(expected)
    assert len(acknowledged) == len(set(acknowledged))


def test_sigterm_closes_what_is_open(tmp_path: Path):
    """The last workload is told as far as it was seen, the recording is sealed."""
    daemon = started(tmp_path, speed=20)
    assert daemon.stdout is not None
    daemon.stdout.readline()

    daemon.send_signal(signal.SIGTERM)
    daemon.communicate()

    assert daemon.returncode == 0
    (recorded,) = (tmp_path / "rec").glob("*/samples.parquet")
    assert 0 < len(read_recording(recorded).traces[0]) < 1749
    assert len(ids_in(tmp_path / "j.jsonl")) >= 1


def test_a_full_disk_is_one_clear_line_and_nothing_is_broken(tmp_path: Path):
    """What was kept until then can be read; the daemon does not go on blind."""
    with tiny_disk(tmp_path / "tiny", size="512k") as disk:
        with pytest.raises(BadInputError, match="no space left"):
            run_watch(replay=NODE_B, journal=disk / "j.jsonl", record=disk / "rec", json=True)

        assert len(ids_in(disk / "j.jsonl")) > 0
