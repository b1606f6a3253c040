"""What every store of recordings must do: subclass, say how to open one, inherit the tests."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwitness.core.device import Device
from flopwitness.core.errors import FlopWitnessError
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.ports import RecordingStore
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace

VALUES = st.floats(allow_infinity=False, width=64)
"""Also negative zero, denormals and NaNs of any bits."""

WRITER = """
import sys
from pathlib import Path

import numpy as np

from flopwitness.core.device import Device
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
{opening}

rng = np.random.default_rng(0)
columns = {{f"c{{k}}_watts": rng.random(400_000) for k in range(8)}}
recording = Recording("r", (Trace(Device("GPU-a"), np.arange(400_000), columns),), Provenance("made"))
store = make(Path(sys.argv[1]))
for number in range(1000):
    store.write(f"r{{number}}", recording)
"""


def example(name: str = "capture", *, watts: float = 80.0) -> Recording:
    """Return a small recording with an absent channel, missing samples and findings."""
    first = Trace(
        Device("GPU-a", chip="H200-SXM", host="n1"), [1, 5, 9], {"power_watts": [watts, np.nan, -0.0]}
    )
    second = Trace(Device("GPU-b"), [2, 6], {"power_watts": [70.0, 71.5], "dram_active_ratio": [0.1, np.nan]})
    provenance = Provenance("nvml+gpm", "0" * 64, "n1", "580", "host UTC", 0.1, "made 1")
    findings = (Finding("missing-values", "one; «ü»", Severity.NOTE, "GPU-a", 1, 9), Finding("cut", "two"))
    return Recording(name, (first, second), provenance, findings)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """Any recording: devices with other channels, other lengths, also without samples or channels."""
    names = st.sampled_from(["power_watts", "sm_clock_hertz", "tensor_active_ratio", "energy_joules_total"])
    traces = []
    for uuid in draw(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3, unique=True)):
        stamps = sorted(draw(st.sets(st.integers(-(2**63), 2**63 - 1), max_size=6)))
        column = st.lists(VALUES, min_size=len(stamps), max_size=len(stamps))
        traces.append(Trace(Device(uuid), stamps, draw(st.dictionaries(names, column))))
    interval = draw(st.none() | st.floats(0, 10, exclude_min=True))
    return Recording(draw(st.text(max_size=8)), tuple(traces), Provenance("any", interval_seconds=interval))


class StoreContract:
    """Implement ``make_store``; ``opening`` is code that defines ``make(folder)`` for another process."""

    opening: str

    def make_store(self, folder: Path) -> RecordingStore:
        """Open a store in an empty folder."""
        raise NotImplementedError

    def test_it_is_a_store(self, tmp_path: Path):
        """Whatever keeps recordings fits the port."""
        assert isinstance(self.make_store(tmp_path), RecordingStore)

    def test_an_absent_channel_and_a_missing_sample_stay_apart(self, tmp_path: Path):
        """What a device lacks does not come back as NaN, nor the other way round."""
        store = self.make_store(tmp_path)

        store.write("one", example())

        first, second = store.read("one").traces
        assert "dram_active_ratio" not in first
        assert np.isnan(second["dram_active_ratio"]).tolist() == [False, True]

    @settings(max_examples=60, deadline=None)
    @given(recording=recordings())
    def test_round_trip_is_equal_bit_for_bit(self, recording: Recording):
        """Whatever is written is read again: every bit of every sample, every finding."""
        with TemporaryDirectory() as folder:
            store = self.make_store(Path(folder))
            store.write("any", recording)

            assert recording == store.read("any")

    def test_findings_and_provenance_come_back(self, tmp_path: Path):
        """What is known about the evidence travels with it."""
        store = self.make_store(tmp_path)
        store.write("one", example())

        assert example() == store.read("one")

    def test_names_are_sorted(self, tmp_path: Path):
        """The list of names does not depend on the order of writing."""
        store = self.make_store(tmp_path)
        for name in ("b", "a", "c.2"):
            store.write(name, example())

        assert store.names() == ("a", "b", "c.2")

    def test_nothing_is_overwritten(self, tmp_path: Path):
        """Evidence that is kept cannot be exchanged under its name."""
        store = self.make_store(tmp_path)
        store.write("one", example(watts=80.0))

        with pytest.raises(FlopWitnessError, match="free name"):
            store.write("one", example(watts=90.0))

        assert example(watts=80.0) == store.read("one")

    def test_an_unknown_name_is_refused(self, tmp_path: Path):
        """Asking for what is not there is misuse, in one line."""
        with pytest.raises(FlopWitnessError, match="no such file"):
            self.make_store(tmp_path).read("none")

    @pytest.mark.parametrize(
        "name", ["", ".", "..", "../out", "a/b", "/etc/x", "a\\b", ".hidden", "a\nb", "a\0b"]
    )
    def test_a_name_cannot_leave_the_store(self, tmp_path: Path, name: str):
        """Names are names, never paths; neither reading nor writing leaves the folder."""
        inner = tmp_path / "inner"
        inner.mkdir()
        store = self.make_store(inner)

        for act in (lambda: store.write(name, example()), lambda: store.read(name)):
            with pytest.raises(FlopWitnessError, match="name"):
                act()

        assert [inner] == list(tmp_path.rglob("*"))

    @pytest.mark.parametrize("n_whole", [0, 1])
    def test_a_killed_writer_leaves_nothing_half_written(self, tmp_path: Path, n_whole: int):
        """SIGKILL in the middle of a write: what has a name is whole."""
        program = WRITER.format(opening=self.opening)
        writer = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
        store = self.make_store(tmp_path)
        try:
            while len(store.names()) < n_whole or not _is_busy(tmp_path, beyond=n_whole):
                assert writer.poll() is None
                time.sleep(0.001)
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.wait()

        names = store.names()
        assert [f"r{number}" for number in range(len(names))] == list(names)
        assert len(names) >= n_whole
        assert all(len(store.read(name).traces[0]) == 400_000 for name in names)
        store.write(f"r{len(names)}", example())  # the name that was lost is still free


def _is_busy(folder: Path, *, beyond: int) -> bool:
    """Say whether there is something that has no name yet."""
    return len(list(folder.iterdir())) > beyond
