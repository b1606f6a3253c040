"""What every reader of recorded telemetry must do: subclass, say how to write a file, inherit the tests."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopwitness.core.ports import Reader
from flopwitness.core.trace import Trace, joined


@dataclass(frozen=True)
class Row:
    """One sample to be written in the reader's own format and units; None is a blank."""

    gpu: int
    time_ns: int
    power_watts: float | None
    sm_clock_hertz: float | None = 345e6
    tensor_active_ratio: float | None = 0.25


START_NS = 1_770_091_506_000_000_000
"""2026-02-03 04:05:06 UTC."""

ROWS = tuple(
    Row(gpu, START_NS + tick * 100_000_000 + gpu * 20_000_000, 100.0 * (gpu + 1) + tick)
    for tick in range(5)
    for gpu in range(2)
)

POWERS = st.lists(
    st.none() | st.integers(0, 700_000).map(lambda milli: milli / 1000), min_size=1, max_size=20
)


class ReaderContract:
    """Implement ``make_reader``: write the rows, in their order, and return a reader of the file."""

    def make_reader(self, folder: Path, rows: Sequence[Row]) -> Reader:
        """Write a file into the folder and open it."""
        raise NotImplementedError

    def test_it_is_a_reader(self, tmp_path: Path):
        """Whatever reads a source fits the port."""
        assert isinstance(self.make_reader(tmp_path, ROWS), Reader)

    def test_pieces_of_one_device_come_in_time_order(self, tmp_path: Path):
        """Pieces of a device follow each other, whatever the order of the file."""
        for name, rows in (("forward", ROWS), ("backward", ROWS[::-1])):
            folder = tmp_path / name
            folder.mkdir()

            traces = self._read(folder, rows)

            stamps = [trace.time_ns.tolist() for trace in traces]
            assert [sorted({row.time_ns for row in ROWS if row.gpu == gpu}) for gpu in (0, 1)] == sorted(
                stamps
            )

    def test_each_sample_belongs_to_its_device(self, tmp_path: Path):
        """Rows of two devices are told apart."""
        traces = self._read(tmp_path, ROWS)

        means = sorted(float(trace["power_watts"].mean()) for trace in traces)
        assert means == [102.0, 202.0]

    def test_a_blank_becomes_nan_and_the_row_stays(self, tmp_path: Path):
        """No answer is not zero, and costs no other channel."""
        rows = (Row(0, START_NS, 80.0), Row(0, START_NS + 10**8, None), Row(0, START_NS + 2 * 10**8, 90.0))

        (trace,) = self._read(tmp_path, rows)

        assert [None if np.isnan(w) else w for w in trace["power_watts"].tolist()] == [80.0, None, 90.0]
        assert trace["sm_clock_hertz"].tolist() == [345e6] * 3

    def test_units_are_base_units(self, tmp_path: Path):
        """Hertz, watts and ratios come out, whatever the source writes."""
        (trace,) = self._read(tmp_path, [Row(0, START_NS, 640.25, 1755e6, 0.5)])

        assert trace["power_watts"][0] == 640.25
        assert trace["sm_clock_hertz"][0] == 1755e6
        assert trace["tensor_active_ratio"][0] == 0.5

    def test_reading_twice_gives_the_same(self, tmp_path: Path):
        """A file is evidence: reading does not change what it says."""
        reader = self.make_reader(tmp_path, ROWS)

        assert tuple(reader.read()) == tuple(reader.read())

    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
    @given(powers=POWERS)
    def test_every_value_arrives(self, powers: list[float | None]):
        """What is written comes back, sample by sample, blanks as NaN."""
        rows = [Row(0, START_NS + k * 10**8, watts) for k, watts in enumerate([*powers, 1.0])]

        with TemporaryDirectory() as folder:
            (trace,) = self._read(Path(folder), rows)

        expected = [np.nan if watts is None else watts for watts in [*powers, 1.0]]
        np.testing.assert_array_equal(expected, trace["power_watts"])

    def _read(self, folder: Path, rows: Sequence[Row]) -> list[Trace]:
        pieces: dict[object, list[Trace]] = defaultdict(list)
        for piece in self.make_reader(folder, rows).read():
            pieces[piece.device].append(piece)
        return [joined(parts) for parts in pieces.values()]
