"""A replay gives what a live sampler would have given."""

from app.live import FakeClock, two_gpus
from contracts.detector import GPU_A, lasting
from flopwitness.app.replay import ReplaySampler, replayed
from flopwitness.core.ports import Sampler
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace, joined

PROVENANCE = Provenance("made", interval_seconds=0.1)
RECORDING = Recording("r", two_gpus(lasting("working", 1)), PROVENANCE)


def test_it_is_a_sampler():
    """The daemon cannot tell a file from a GPU."""
    assert isinstance(ReplaySampler(RECORDING), Sampler)


def test_every_sample_comes_once_one_a_device_a_round():
    """Joined again, the rounds are the recording."""
    rounds = list(replayed(ReplaySampler(RECORDING), FakeClock(), speed=0))

    assert all(len(piece) == 1 for pieces in rounds for piece in pieces)
    assert tuple(joined(pieces[at] for pieces in rounds) for at in range(2)) == RECORDING.traces


def test_a_device_without_a_sample_is_absent_from_the_round():
    """Rounds go by time, not by number: a lost sample shifts nothing."""
    whole = RECORDING.traces[0]
    holed = joined([RECORDING.traces[1].between(0, 3), RECORDING.traces[1].between(5, 10)])

    rounds = list(replayed(ReplaySampler(Recording("r", (whole, holed), PROVENANCE)), FakeClock(), speed=0))

    assert [len(pieces) for pieces in rounds] == [2, 2, 2, 1, 1, 2, 2, 2, 2, 2]


def test_samples_that_are_known_are_passed_over():
    """A daemon that comes back is not told again what it recorded."""
    after_ns = {trace.device.uuid: int(trace.time_ns[6]) for trace in RECORDING.traces}

    rounds = list(replayed(ReplaySampler(RECORDING, after_ns=after_ns), FakeClock(), speed=0))

    assert len(rounds) == 3


def test_speed_divides_the_time_between_rounds():
    """Twice as fast is half the wait; 0 does not wait at all."""
    fast, instant = FakeClock(), FakeClock()

    list(replayed(ReplaySampler(RECORDING), fast, speed=2.0))
    list(replayed(ReplaySampler(RECORDING), instant, speed=0))

    assert fast.waited_for[-1] - fast.waited_for[0] == 450_000_000
    assert len(set(instant.waited_for)) == 1


def test_a_stopped_clock_ends_a_replay_and_an_ended_one_gives_nothing():
    """SIGTERM works in a replay as it does live."""
    sampler = ReplaySampler(RECORDING)

    assert len(list(replayed(sampler, FakeClock(n_waits=4), speed=0))) == 4
    assert len(list(replayed(sampler, FakeClock(), speed=0))) == 6
    assert sampler.sample() == ()
    assert (
        list(
            replayed(ReplaySampler(Recording("r", (Trace(GPU_A, [], {}),), PROVENANCE)), FakeClock(), speed=0)
        )
        == []
    )
