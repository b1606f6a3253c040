"""``record`` on a made-up sampler: sealed by a signal, whole until two seconds before a kill."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.live import ListedSampler, rounds_of, two_gpus
from contracts.detector import lasting
from flopwitness.app.cli.record import recorded
from flopwitness.core.errors import BadInputError
from flopwitness.storage.recordings import read_recording
from flopwitness.storage.segments import iter_segments, read_segments

PROGRAM = """
import sys, time
from pathlib import Path
from flopwitness.app.cli.record import recorded
from flopwitness.core.device import Device
from flopwitness.core.trace import Trace

class Sampler:
    source, driver, lost = "made", "1", {}
    def sample(self):
        return (Trace(Device("GPU-a", chip="H200-SXM"), [time.time_ns()], {"power_watts": [80.0]}),)
    def close(self):
        pass

sys.exit(recorded(Sampler(), Path(sys.argv[1]), interval=0.02, duration=None))
"""


def recorder(folder: Path) -> subprocess.Popen[bytes]:
    """Start a recorder and wait for its first segment."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)], stderr=subprocess.DEVNULL)
    while not list(folder.glob("segment-*")):
        assert process.poll() is None
        time.sleep(0.01)
    return process


def test_it_records_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Rounds in, one file out, the sampler closed."""
    sampler = ListedSampler(rounds_of(*two_gpus(lasting("idle", 1))))

    status = recorded(sampler, tmp_path / "r", interval=0.001, duration=0.02)

    found = read_recording(tmp_path / "r" / "samples.parquet")
    assert (status, sampler.n_closed) == (0, 1)
    assert found.provenance.source == "listed"
    assert found.provenance.interval_seconds == 0.001
    assert "samples.parquet" in capsys.readouterr().err


def test_no_answer_at_all_is_misuse(tmp_path: Path):
    """There is nothing to seal."""
    with pytest.raises(BadInputError, match="at least one GPU"):
        recorded(ListedSampler([]), tmp_path / "r", interval=0.001, duration=0.005)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_seals_the_recording(tmp_path: Path, number: signal.Signals):
    """The status is that of success."""
    process = recorder(tmp_path / "r")

    process.send_signal(number)

    assert process.wait(30) == 0
    assert len(read_recording(tmp_path / "r" / "samples.parquet").traces[0]) > 0


def test_after_a_kill_all_but_the_last_two_seconds_is_there(tmp_path: Path):
    """SIGKILL in the middle: no file is broken, and the last sample is younger than two seconds."""
    process = recorder(tmp_path / "r")
    time.sleep(1.3)

    killed_ns = time.time_ns()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    trace = read_segments(tmp_path / "r").traces[0]
    assert killed_ns - int(trace.time_ns[-1]) < 2_000_000_000
    assert len(list(iter_segments(tmp_path / "r"))) >= 1
