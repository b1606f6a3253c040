"""A recording in progress survives kills and full disks: what was appended is read again."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.trace import Trace
from flopwitness.storage.recordings import read_recording
from flopwitness.storage.segments import (
    FANOUT,
    SegmentStore,
    is_unsealed,
    iter_segments,
    last_recorded_ns,
    live_segments,
    read_header,
    read_segments,
)
from storage.pieces import HEADER, piece
from tiny_disk import tiny_disk

WRITER = """
import sys
from pathlib import Path
from storage.pieces import HEADER, piece
from flopwitness.storage.segments import SegmentStore, is_unsealed

folder = Path(sys.argv[1])
store = SegmentStore.reopen(folder) if is_unsealed(folder) else SegmentStore.create(folder, HEADER)
first = int(sys.argv[2])
for number in range(first, first + 10_000):
    store.append(piece(number))
    print(number, flush=True)
"""


def store_with(folder: Path, n_pieces: int) -> SegmentStore:
    """Return a store with pieces in it."""
    store = SegmentStore.create(folder, HEADER)
    for number in range(n_pieces):
        store.append(piece(number))
    return store


@pytest.mark.parametrize("n_pieces", [1, FANOUT - 1, FANOUT, 2 * FANOUT + 5])
def test_what_was_appended_is_read_again_before_it_is_sealed(tmp_path: Path, n_pieces: int):
    """Segments, merged or not, give one recording in time order."""
    store_with(tmp_path / "r", n_pieces)

    found = read_segments(tmp_path / "r")

    whole = piece(0, 10 * n_pieces)
    expected = [t for t in whole[0].time_ns if t % 10**9 < 3 * 10**8]
    assert [trace.device.uuid for trace in found.traces] == ["GPU-a", "GPU-b"]
    assert found.traces[0].time_ns.tolist() == expected
    assert found.provenance == HEADER.provenance


def test_the_number_of_files_is_bounded(tmp_path: Path):
    """Sixty segments become one: a folder of a week can be listed."""
    store_with(tmp_path / "r", 3 * FANOUT + 2)

    assert [segment.n_pieces for segment in live_segments(tmp_path / "r")] == [FANOUT] * 3 + [1, 1]
    assert len(list((tmp_path / "r").iterdir())) == 3 + 2 + 1


def test_a_leftover_of_a_merge_is_not_read_twice_and_goes_when_reopened(tmp_path: Path):
    """Killed between writing the merged file and deleting its parts: the parts are inside the whole."""
    folder = tmp_path / "r"
    store = store_with(folder, FANOUT - 1)
    part = (folder / "segment-0000000003-0000000003.parquet").read_bytes()
    store.append(piece(FANOUT - 1))
    (folder / "segment-0000000003-0000000003.parquet").write_bytes(part)

    n_read = sum(len(traces[0]) for traces in iter_segments(folder))
    SegmentStore.reopen(folder)

    assert n_read == 3 * FANOUT
    assert len(list(folder.glob("segment-*"))) == 1


def test_a_clean_stop_leaves_one_recording_with_its_findings(tmp_path: Path):
    """Sealed: our normal format, and no segment any more."""
    store = store_with(tmp_path / "r", 3)
    unsealed = read_segments(tmp_path / "r")

    path = store.seal((Finding("missed-ticks", "2 ticks"),))

    assert path == tmp_path / "r" / "samples.parquet"
    found = read_recording(path)
    assert found.traces == unsealed.traces
    assert [finding.code for finding in found.findings] == ["missed-ticks"]
    assert not is_unsealed(tmp_path / "r")
    assert list((tmp_path / "r").glob("segment-*")) == []


def test_a_channel_that_comes_late_is_blank_before(tmp_path: Path):
    """A GPU that was lost at the start gives more later; sealed segment by segment, it reads as joined."""
    store = SegmentStore.create(tmp_path / "r", HEADER)
    first, second = piece(0)
    store.append((Trace(first.device, first.time_ns, {}), second))
    store.append(piece(1))
    unsealed = read_segments(tmp_path / "r")

    path = store.seal()

    assert path is not None
    assert read_recording(path).traces == unsealed.traces
    assert unsealed.traces[0].channels.keys() == first.channels.keys()


def test_the_last_instants_are_known_before_and_after_it_is_opened_again(tmp_path: Path):
    """Where to go on, without reading a sample."""
    store = store_with(tmp_path / "r", 3)

    expected = {trace.device.uuid: int(trace.time_ns[-1]) for trace in piece(2)}

    assert store.last_instants() == expected
    assert SegmentStore.reopen(tmp_path / "r").last_instants() == expected


def test_the_last_instant_of_some_devices_is_known_over_all_recordings(tmp_path: Path):
    """Sealed or not; one that is damaged, or of other devices, says nothing."""
    uuids = [trace.device.uuid for trace in piece(0)]
    last = [int(piece(number)[0].time_ns[-1]) for number in (2, 5)]
    store_with(tmp_path / "sealed", 3).seal()

    assert last_recorded_ns(tmp_path, uuids[:1]) == last[0]
    store_with(tmp_path / "open", 6)
    assert last_recorded_ns(tmp_path, uuids[:1]) == last[1]
    (tmp_path / "open" / "samples.parquet").write_bytes(b"cut")
    assert last_recorded_ns(tmp_path, uuids[:1]) == last[0]
    assert last_recorded_ns(tmp_path, ["GPU-other"]) is None


def test_both_clocks_are_in_the_header(tmp_path: Path):
    """Ticks are taken by the monotonic clock, samples are stamped in UTC: one instant joins them."""
    store_with(tmp_path / "r", 0)

    assert read_header(tmp_path / "r") == HEADER
    assert HEADER.offset_ns == 600


def test_without_a_sample_nothing_is_sealed(tmp_path: Path):
    """A recording of nothing is none."""
    assert store_with(tmp_path / "r", 0).seal() is None
    with pytest.raises(BadInputError, match="none yet"):
        read_segments(tmp_path / "r")


@pytest.mark.parametrize("n_pieces", [0, 2])
def test_a_folder_that_holds_a_recording_is_refused(tmp_path: Path, n_pieces: int):
    """Nothing is overwritten or mixed, sealed or not."""
    store = store_with(tmp_path / "r", n_pieces)
    if n_pieces:
        store.seal()

    with pytest.raises(BadInputError, match="expected a f"):
        SegmentStore.create(tmp_path / "r", HEADER)


def test_a_killed_writer_loses_nothing_that_was_appended(tmp_path: Path):
    """SIGKILL at ten random moments, going on each time: every acknowledged piece is there, once."""
    folder, acknowledged = tmp_path / "r", -1
    chance = random.Random(7)  # noqa: S311  moments, not secrets
    for _ in range(10):
        n_read = len(list(iter_segments(folder))) if folder.exists() else 0
        first = int(read_segments(folder).traces[0].time_ns[-1] // 10**9) + 1 if n_read else 0
        acknowledged = max(acknowledged, killed_after(folder, first, chance.uniform(0.0, 0.15)))

        traces = read_segments(folder).traces
        seconds = np.unique(traces[0].time_ns // 10**9).tolist()
        assert seconds == list(range(len(seconds)))
        assert len(seconds) > acknowledged
        assert [len(trace) for trace in traces] == [3 * len(seconds)] * 2


def killed_after(folder: Path, first: int, seconds: float) -> int:
    """Let a process append, kill it a while after its first piece; return the last one it acknowledged."""
    tests = str(Path(__file__).parents[1])
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(first)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": tests},
    )
    assert writer.stdout is not None
    said = writer.stdout.readline()
    time.sleep(seconds)
    writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate()
    return int((said + rest).split()[-1])


def fill(store: SegmentStore) -> None:
    """Append until there is no room."""
    for number in range(1000):
        store.append(piece(50 * number, 500))


def test_a_full_disk_is_said_in_one_line_and_what_was_written_stays_readable(tmp_path: Path):
    """No space: the append that failed is not there, all before it are."""
    with tiny_disk(tmp_path / "tiny") as disk:
        store = SegmentStore.create(disk / "r", HEADER)
        with pytest.raises(BadInputError, match="no space left") as caught:
            fill(store)

        assert "\n" not in str(caught.value)
        n_samples = len(read_segments(disk / "r").traces[0])
        assert n_samples > 0
        assert n_samples % 500 == 0
