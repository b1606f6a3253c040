"""A stretch is read window by window; what comes back is what was scraped."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.reader import START_NS, ReaderContract, Row
from emulators.prometheus_api import Samples
from flopwitness.core.finding import Finding
from flopwitness.core.trace import Trace, joined
from flopwitness.telemetry.prometheus.client import Answer
from flopwitness.telemetry.prometheus.fetching import TooMuchError
from flopwitness.telemetry.prometheus.reading import (
    LONGEST_WINDOW_NS,
    MOST_POINTS,
    SHORTEST_WINDOW_NS,
    PrometheusReader,
    next_window_ns,
)

SECOND = 10**9
AT_NS = 1_770_091_506 * SECOND
POWER, CLOCK, TENSOR = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"


@dataclass
class Limited:
    """A server that refuses more than so many samples of a series at once.

    Attributes
    ----------
    windows : list of (int, int)
        What it answered.
    """

    samples_: Samples
    most: int = MOST_POINTS
    windows: list[tuple[int, int]] = field(default_factory=list)

    def samples(self, start_ns: int, stop_ns: int) -> Answer:
        """Answer, or refuse."""
        series, _ = self.samples_.samples(start_ns, stop_ns)
        if max(map(len, series), default=0) > self.most:
            raise TooMuchError("prometheus", "too many samples")
        self.windows.append((start_ns, stop_ns))
        return series, [Finding("source-warning", "said each time")]


def every_second(n_seconds: int, step: int = 1) -> Samples:
    """Return power of one GPU: its value is the second."""
    samples = Samples()
    for second in range(0, n_seconds, step):
        samples.add(AT_NS // 10**6 + 1000 * second, float(second), name=POWER, UUID="GPU-a")
    return samples


class TestReader(ReaderContract):
    """The reader keeps the contract of every reader."""

    def make_reader(self, folder: Path, rows: Sequence[Row]) -> PrometheusReader:  # noqa: ARG002
        """Keep the rows as scraped series, whatever their order."""
        samples = Samples()
        for row in sorted(rows, key=lambda row: row.time_ns):
            columns = (
                (POWER, row.power_watts, 1.0),
                (CLOCK, row.sm_clock_hertz, 1e6),
                (TENSOR, row.tensor_active_ratio, 1.0),
            )
            for name, value, unit in columns:
                shown = float("nan") if value is None else value / unit
                samples.add(row.time_ns // 10**6, shown, name=name, UUID=f"GPU-{row.gpu}")
        return PrometheusReader(samples, START_NS, max(row.time_ns for row in rows))


@given(
    n_samples=st.integers(1, 200), step=st.sampled_from([1, 15, 61]), most=st.integers(1, 70), data=st.data()
)
def test_every_sample_comes_once_however_little_an_answer_holds(
    n_samples: int, step: int, most: int, data: st.DataObject
):
    """Windows shrink until they are answered and grow again; both ends of the stretch belong to it."""
    server = Limited(every_second(n_samples * step, step), most)
    first = data.draw(st.integers(0, n_samples - 1)) * step
    last = data.draw(st.integers(first, (n_samples - 1) * step))

    pieces = list(PrometheusReader(server, AT_NS + first * SECOND, AT_NS + last * SECOND).read())

    assert joined(pieces)["power_watts"].tolist() == [
        float(second) for second in range(first, last + 1, step)
    ]


def test_a_server_that_refuses_even_a_second_is_an_error():
    """Nothing is left out in silence."""
    with pytest.raises(TooMuchError):
        list(PrometheusReader(Limited(every_second(10), 0), AT_NS, AT_NS + 5 * SECOND).read())


@given(window_ns=st.integers(SHORTEST_WINDOW_NS, LONGEST_WINDOW_NS), n_points=st.integers(0, 10**6))
def test_a_window_grows_at_most_twofold_and_fits(window_ns: int, n_points: int):
    """Some ten thousand samples a series at most, were they as dense as in the window before."""
    found = next_window_ns(window_ns, n_points)

    assert SHORTEST_WINDOW_NS <= found <= min(2 * window_ns, LONGEST_WINDOW_NS)
    assert n_points * found / window_ns <= MOST_POINTS or found == SHORTEST_WINDOW_NS


def test_a_reader_goes_on_where_another_ended():
    """No sample twice and none lost, by device."""
    samples = every_second(100)
    first = joined(PrometheusReader(samples, AT_NS, AT_NS + 40 * SECOND).read())

    known = {"GPU-a": int(first.time_ns[-1])}
    rest = joined(PrometheusReader(samples, AT_NS, AT_NS + 99 * SECOND, after_ns=known).read())

    assert [*first["power_watts"], *rest["power_watts"]] == [float(second) for second in range(100)]


def test_what_windows_say_again_is_told_once():
    """A warning in each of many answers is one finding."""
    server = Limited(every_second(3000), 500)
    reader = PrometheusReader(server, AT_NS, AT_NS + 3000 * SECOND)

    pieces: list[Trace] = list(reader.read())

    assert len(pieces) == len(server.windows) > 1
    assert [finding.code for finding in reader.findings] == ["source-warning"]
    assert np.diff(joined(pieces).time_ns).tolist() == [SECOND] * 2999
