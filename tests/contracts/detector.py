"""What every detector promises, and the made-up signals to try it with."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.errors import FlopWitnessError, InvalidNounError
from flopwitness.core.ports import Detector
from flopwitness.core.session import Session, cut_session
from flopwitness.core.trace import Trace
from flopwitness.detect.run import sessions_of

NAN = float("nan")
START_NS = 1_795_999_032_848_300_000
GPU_A = Device("GPU-a", chip="H200-SXM")
GPU_B = Device("GPU-b", chip="H200-SXM")

LOOKS = {
    #           utilisation, SM, tensor, integer, DRAM, power
    "idle": (0.0, 0.0, 0.0, 0.0, 0.000005, 80.0),
    "working": (0.99, 0.87, 0.4, 0.2, 0.4, 690.0),
    "stalled": (1.0, 0.1818, 0.0, 0.0016, 0.000005, 128.0),
    "unseen": (NAN, NAN, NAN, NAN, NAN, NAN),
}
"""What an H200 reads in each state; the numbers are from real recordings."""

CHANNELS = (
    "gpu_util_ratio",
    "sm_active_ratio",
    "tensor_active_ratio",
    "int_active_ratio",
    "dram_active_ratio",
    "power_instant_watts",
)

Look = tuple[str, float]
"""A state, and how many seconds after the sample before it was taken."""

RUNS = st.lists(
    st.tuples(st.sampled_from(sorted(LOOKS)), st.sampled_from([0.1, 0.5, 1.5, 4.0]), st.integers(1, 12)),
    max_size=10,
).map(lambda runs: [(name, step_seconds) for name, step_seconds, n in runs for _ in range(n)])
"""Looks in runs, since states last: sampled fast and slowly, with and without gaps."""


def trace_of(looks: Sequence[Look], device: Device = GPU_A, start_ns: int = START_NS) -> Trace:
    """Return a trace with one sample a look."""
    steps_ns = np.array([round(step_seconds * 1e9) for _, step_seconds in looks], dtype=np.int64)
    rows = np.array([LOOKS[name] for name, _ in looks]).reshape(-1, len(CHANNELS))
    return Trace(device, start_ns + np.cumsum(steps_ns), dict(zip(CHANNELS, rows.T, strict=True)))


def lasting(name: str, seconds: float, step_seconds: float = 0.1) -> list[Look]:
    """Return a state that lasts a while."""
    return [(name, step_seconds)] * round(seconds / step_seconds)


def pieces_at(trace: Trace, cuts: Iterable[int]) -> list[Trace]:
    """Return a trace in pieces, cut before the samples with these numbers."""
    bounds = sorted({0, len(trace), *cuts})
    return [trace.between(start, stop) for start, stop in pairwise(bounds)]


def spans(sessions: Iterable[Session], start_ns: int = 0) -> list[tuple[str, int, int]]:
    """Return name, start and stop of each session, counted from an instant."""
    return [(session.name, session.start_ns - start_ns, session.stop_ns - start_ns) for session in sessions]


def seconds_of(sessions: Iterable[Session]) -> list[tuple[str, float, float]]:
    """Return name, start and stop of each session in seconds after ``START_NS``."""
    return [(name, start / 1e9, stop / 1e9) for name, start, stop in spans(sessions, START_NS)]


LAW = settings(deadline=None, suppress_health_check=[HealthCheck.differing_executors])
"""Every detector's tests inherit the laws, of which hypothesis warns; a busy machine breaks none."""


class DetectorContract:
    """Subclass, say how to make one and what it must hold, and inherit the tests."""

    def make_detector(self) -> Detector:
        """Return a fresh detector."""
        raise NotImplementedError

    def held_ns(self, trace: Trace) -> NDArray[np.int64]:
        """Return instants that the detector's rule wants inside a session."""
        raise NotImplementedError

    def test_it_offers_what_the_port_asks_for(self):
        """A detector has ``feed`` and ``close``."""
        assert isinstance(self.make_detector(), Detector)

    @LAW
    @given(looks=RUNS, data=st.data())
    def test_sessions_do_not_depend_on_how_the_stream_was_cut(self, looks: list[Look], data: st.DataObject):
        """Feeding a trace in any pieces gives the sessions of the whole, sample for sample."""
        whole = trace_of(looks)
        cuts = data.draw(st.sets(st.integers(0, len(whole))))

        expected = sessions_of(self.make_detector(), [whole])
        actual = sessions_of(self.make_detector(), pieces_at(whole, cuts))

        assert actual == expected

    @LAW
    @given(looks=RUNS)
    def test_single_samples_give_the_same_sessions_as_the_whole(self, looks: list[Look]):
        """A live stream is a recording fed sample by sample."""
        whole = trace_of(looks)

        expected = sessions_of(self.make_detector(), [whole])
        actual = sessions_of(self.make_detector(), pieces_at(whole, range(len(whole))))

        assert actual == expected

    @LAW
    @given(looks=RUNS, others=RUNS, data=st.data())
    def test_sessions_do_not_depend_on_how_devices_interleave(
        self, looks: list[Look], others: list[Look], data: st.DataObject
    ):
        """Each device is followed on its own, whoever speaks first."""
        one, two = trace_of(looks, GPU_A), trace_of(others, GPU_B)
        pieces = [pieces_at(trace, range(0, len(trace), 3)) for trace in (one, two)]
        turns = data.draw(st.permutations([0] * len(pieces[0]) + [1] * len(pieces[1])))
        mixed = [pieces[turn].pop(0) for turn in turns]

        expected = sessions_of(self.make_detector(), [one, two])
        actual = sessions_of(self.make_detector(), mixed)

        assert actual == expected

    @LAW
    @given(looks=RUNS)
    def test_what_must_be_held_lies_inside_exactly_one_session(self, looks: list[Look]):
        """Time that was not seen idle is never left out, and never counted twice."""
        trace = trace_of(looks)
        held_ns = self.held_ns(trace)

        sessions = sessions_of(self.make_detector(), [trace])

        inside = [(held_ns >= session.start_ns) & (held_ns <= session.stop_ns) for session in sessions]
        assert np.sum(inside, axis=0, dtype=np.int64).tolist() == ([1] * len(held_ns) if inside else 0)
        assert bool(inside) or not len(held_ns)

    @LAW
    @given(looks=RUNS)
    def test_sessions_of_a_device_do_not_overlap(self, looks: list[Look]):
        """An instant of a device belongs to one session at most."""
        sessions = sessions_of(self.make_detector(), [trace_of(looks)])

        assert all(before.stop_ns <= after.start_ns for before, after in pairwise(sessions))

    @LAW
    @given(looks=RUNS)
    def test_a_session_holds_what_cutting_the_whole_trace_would_give(self, looks: list[Look]):
        """The samples inside, and the one on either side that interpolation needs: no more, no less."""
        whole = trace_of(looks)

        sessions = sessions_of(self.make_detector(), pieces_at(whole, range(0, len(whole), 2)))

        for session in sessions:
            again = cut_session((whole,), session.start_ns, session.stop_ns, name=session.name)
            assert session == again

    @LAW
    @given(looks=RUNS, shift_ns=st.integers(-(10**18), 10**18))
    def test_a_shift_in_time_shifts_the_sessions_and_changes_nothing_else(
        self, looks: list[Look], shift_ns: int
    ):
        """No rule may look at the clock on the wall."""
        expected = spans(sessions_of(self.make_detector(), [trace_of(looks)]), START_NS)
        late_ns = START_NS + shift_ns
        actual = spans(sessions_of(self.make_detector(), [trace_of(looks, start_ns=late_ns)]), late_ns)

        assert actual == expected

    def test_idle_time_gives_no_session(self):
        """A device that is seen idle throughout did nothing."""
        assert sessions_of(self.make_detector(), [trace_of(lasting("idle", 30))]) == ()

    def test_a_minute_of_work_is_one_session(self):
        """The plain case: idle, work, idle."""
        looks = lasting("idle", 20) + lasting("working", 60) + lasting("idle", 20)

        (session,) = sessions_of(self.make_detector(), [trace_of(looks)])

        assert (session.name, round(session.duration_seconds / 10)) == ("", 6)

    def test_an_ended_session_is_told_before_the_stream_ends(self):
        """Live, one hears of a job soon after it ended, not when the monitor stops."""
        detector = self.make_detector()

        told = detector.feed(trace_of(lasting("working", 60) + lasting("idle", 20)))

        assert len(told) == 1

    def test_an_empty_piece_changes_nothing(self):
        """A round in which a device gave no sample is no news."""
        detector = self.make_detector()
        whole = trace_of(lasting("working", 20))

        told = [detector.feed(whole.between(0, 0)), detector.feed(whole), detector.feed(whole.between(5, 5))]

        assert told == [(), (), ()]
        assert len(detector.close()) == 1

    def test_feeding_a_closed_detector_is_refused(self):
        """Samples after the end would be swallowed."""
        detector = self.make_detector()
        detector.close()

        with pytest.raises(FlopWitnessError, match="closed"):
            detector.feed(trace_of(lasting("idle", 1)))

    def test_closing_twice_tells_nothing_twice(self):
        """The second close has nothing left to end."""
        detector = self.make_detector()
        detector.feed(trace_of(lasting("working", 20)))
        detector.close()

        assert detector.close() == ()

    @pytest.mark.parametrize("shift_ns", [0, -1_000_000_000])
    def test_a_piece_that_goes_back_in_time_is_refused_and_not_taken(self, shift_ns: int):
        """A repeated or late piece is misuse; what came before it still counts, and the stream can go on."""
        whole = trace_of(lasting("working", 20) + lasting("idle", 20))
        first, second = whole.between(0, 100), whole.between(100, len(whole))
        last_ns = int(first.time_ns[-1])
        stray = Trace(GPU_A, [last_ns + shift_ns], {"power_instant_watts": [80.0]})
        detector = self.make_detector()
        detector.feed(first)

        with pytest.raises(InvalidNounError, match="GPU-a"):
            detector.feed(stray)

        assert (*detector.feed(second), *detector.close()) == sessions_of(self.make_detector(), [whole])

    def test_one_uuid_with_two_chips_is_refused(self):
        """A device does not change its chip between two pieces."""
        detector = self.make_detector()
        detector.feed(trace_of(lasting("idle", 1)))
        other = trace_of(lasting("idle", 1), Device("GPU-a", chip="A100-SXM4-80GB"), START_NS + 10**10)

        with pytest.raises(InvalidNounError, match="GPU-a"):
            detector.feed(other)
