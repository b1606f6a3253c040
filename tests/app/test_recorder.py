"""Recording: every round is kept, and what was lost is said."""

from pathlib import Path

import pytest

from app.live import FakeClock, ListedSampler, rounds_of, two_gpus
from contracts.detector import lasting
from flopwitness.app.recorder import Attended, new_store, record
from flopwitness.app.ticking import Round, Ticker
from flopwitness.app.timeline import Timeline
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance
from flopwitness.storage.recordings import read_recording
from flopwitness.storage.segments import read_header, read_segments
from tiny_disk import tiny_disk

TRACES = two_gpus(lasting("working", 5))
PROVENANCE = Provenance("listed", interval_seconds=0.1)


def ticker_of(n_rounds: int, rounds: list[Round] | None = None) -> Ticker:
    """Return a ticker over the rounds."""
    sampler = ListedSampler(rounds_of(*TRACES) if rounds is None else rounds)
    return Ticker(sampler, FakeClock(n_waits=n_rounds), interval_seconds=0.1)


def test_a_stopped_recording_is_sealed_with_every_round(tmp_path: Path):
    """Bit for bit what the sampler gave, under the folder's name."""
    path = record(ticker_of(50), new_store(tmp_path / "mine", FakeClock(), PROVENANCE))

    assert path is not None
    found = read_recording(path)
    assert (found.name, found.traces) == ("mine", TRACES)
    assert read_header(tmp_path / "mine").offset_ns == 86_400_000_000_000


def test_all_but_the_last_second_is_on_disk_at_any_moment(tmp_path: Path):
    """After each round, what is a second old can be read by somebody else."""
    store = new_store(tmp_path / "r", FakeClock(), PROVENANCE)
    behind = []

    class Watched:
        """Looks at the folder after each append."""

        def append(self, traces: Round) -> None:
            """Append, then read what is there."""
            store.append(traces)
            behind.append(int(traces[0].time_ns[-1] - read_segments(store.folder).traces[0].time_ns[-1]))

        def seal(self, findings: tuple[object, ...]) -> None:
            """Leave it as after a kill."""

    record(ticker_of(50), Watched())

    assert behind == [0] * 5
    assert read_segments(tmp_path / "r").traces == TRACES


def test_a_lost_gpu_is_an_alarm_in_the_recording(tmp_path: Path):
    """The others go on; the recording says who is missing and why."""
    store = new_store(tmp_path / "r", FakeClock(), PROVENANCE)

    clock, why = FakeClock(), {"GPU-b": "fell off the bus"}
    attended = Attended(ticker_of(50), Timeline(clock), lost=lambda: why, say=lambda _: None)

    path = record(attended, store, findings=attended.findings)

    assert path is not None
    (finding,) = read_recording(path).findings
    assert (finding.code, finding.severity.value, finding.subject) == ("lost-device", "alarm", "GPU-b")
    assert "fell off the bus" in finding.message


def test_a_recording_of_nothing_is_none(tmp_path: Path):
    """No device ever answered: there is no file that says otherwise."""
    assert record(ticker_of(5, []), new_store(tmp_path / "r", FakeClock(), PROVENANCE)) is None


def test_a_full_disk_ends_it_and_leaves_what_was_written(tmp_path: Path):
    """One line for the user; nothing is sealed."""
    with tiny_disk(tmp_path / "tiny", size="48k") as disk:
        store = new_store(disk / "r", FakeClock(), PROVENANCE)

        with pytest.raises(BadInputError, match="no space left"):
            record(ticker_of(50), store)

        kept = read_segments(disk / "r").traces[0]
        assert kept == TRACES[0].between(0, len(kept))
