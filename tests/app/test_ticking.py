"""Ticks do not drift, a missed one is a gap, and batches lose nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.live import FakeClock, ListedSampler, rounds_of, two_gpus
from contracts.detector import lasting
from flopwitness.app.ticking import HostClock, Ticker, batched
from flopwitness.core.errors import BadInputError
from flopwitness.core.trace import joined

ROUNDS = rounds_of(*two_gpus(lasting("idle", 2.5)))
START_NS = FakeClock().now_ns
TENTH_NS = 100_000_000


def test_ticks_are_due_at_even_instants_however_long_a_round_takes():
    """A round of 30 ms does not move the next tick: deadlines are start + n x interval."""
    clock = FakeClock(n_waits=5)
    sampler = ListedSampler(ROUNDS, during=lambda _: setattr(clock, "now_ns", clock.now_ns + 30_000_000))

    n_rounds = len(list(Ticker(sampler, clock, interval_seconds=0.1)))

    assert n_rounds == 5
    assert clock.waited_for == [START_NS + n * TENTH_NS for n in range(5)]


def test_a_missed_tick_is_skipped_and_counted():
    """A round of 0.35 s passes ticks 1 and 2; tick 3 is taken late, tick 4 in time."""
    clock = FakeClock(n_waits=3)
    slow_ns = {0: 350_000_000}
    sampler = ListedSampler(
        ROUNDS, during=lambda at: setattr(clock, "now_ns", clock.now_ns + slow_ns.get(at, 0))
    )
    ticker = Ticker(sampler, clock, interval_seconds=0.1)

    list(ticker)

    assert [round((due - START_NS) / TENTH_NS) for due in clock.waited_for] == [0, 3, 4]
    assert ticker.n_missed == 2
    assert [finding.code for finding in ticker.findings()] == ["missed-ticks"]


def test_a_duration_ends_it():
    """One second at 10 Hz is ten rounds."""
    ticker = Ticker(ListedSampler(ROUNDS), FakeClock(), interval_seconds=0.1, duration_seconds=1.0)

    assert len(list(ticker)) == 10


def test_a_sample_that_is_not_after_the_last_is_left_out_and_counted():
    """A clock that was set back, or an answer given twice, does not stop the daemon."""
    rounds = [ROUNDS[3], ROUNDS[4], ROUNDS[4], ROUNDS[2], ROUNDS[5]]
    ticker = Ticker(ListedSampler(rounds), FakeClock(n_waits=5), interval_seconds=0.1)

    taken = list(ticker)

    assert [len(pieces) for pieces in taken] == [2, 2, 0, 0, 2]
    assert ticker.n_stale == 4
    assert [finding.code for finding in ticker.findings()] == ["stale-samples"]


@pytest.mark.parametrize("interval", [0.0, -1.0, float("nan"), float("inf")])
def test_an_interval_that_is_none_is_refused(interval: float):
    """Said before anything is asked."""
    with pytest.raises(BadInputError, match="seconds above 0"):
        Ticker(ListedSampler([]), FakeClock(), interval_seconds=interval)


def test_a_stopped_clock_waits_for_nothing():
    """A signal ends the wait for a tick that is far away."""
    clock = HostClock()
    clock.stop()

    assert clock.wait_until(clock.monotonic_ns() + 10**12) is False


@given(seconds=st.floats(0.05, 3.0), lost_from=st.integers(1, 25))
def test_batches_hold_every_sample_once(seconds: float, lost_from: int):
    """Also where a device falls silent half-way; no batch spans much more than asked."""
    rounds = [pieces if at < lost_from else pieces[:1] for at, pieces in enumerate(ROUNDS)]

    batches = list(batched(rounds, seconds=seconds))

    for number, last in ((0, len(ROUNDS)), (1, lost_from)):
        uuid = ROUNDS[0][number].device.uuid
        pieces = [piece for batch in batches for piece in batch if piece.device.uuid == uuid]
        assert joined(pieces) == joined(one[number] for one in ROUNDS[:last])
        assert all(piece.seconds()[-1] <= seconds + 0.11 for piece in pieces)


def test_a_round_without_an_answer_lets_go_of_what_waits():
    """When all devices fall silent, what they gave before is not held back."""
    assert [len(batch) for batch in batched([ROUNDS[0], (), ()], seconds=9.0)] == [2, 0]
