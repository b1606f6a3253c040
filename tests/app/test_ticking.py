"""Ticks do not drift, a missed one is a gap, and batches lose nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.live import FakeClock, ListedSampler, PacedList, rounds_of, two_gpus
from contracts.detector import lasting
from flopwitness.app.ticking import BATCH_SECONDS, HostClock, Ticker, batched
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


@pytest.mark.parametrize(("interval", "n_waits"), [(0.1, 2), (0.25, 4), (0.5, 7)])
def test_a_sampler_that_keeps_the_beat_is_fetched_from(interval: float, n_waits: int):
    """Each time half-way between two ticks, no seldomer than batches are due; nothing is lost."""
    clock = FakeClock(n_waits=n_waits)
    sampler = PacedList(ROUNDS, clock)

    taken = list(Ticker(sampler, clock, interval_seconds=interval))

    n_ticks = int(BATCH_SECONDS / interval)
    due = [(n_ticks * (n + 1) - 0.5) * interval for n in range(n_waits)]
    assert [(waited - START_NS) / 1e9 for waited in clock.waited_for] == pytest.approx(due)
    assert [len(pieces[0]) for pieces in taken if pieces] == [n_ticks] * n_waits
    first = [pieces[0] for pieces in taken if pieces]
    assert joined(first) == joined(one[0] for one in ROUNDS[: n_ticks * n_waits])


def test_what_a_paced_sampler_gathered_last_is_fetched_at_the_stop():
    """A signal comes between two fetches: what was read before it is kept."""
    clock = FakeClock(n_waits=0)

    taken = list(Ticker(PacedList(ROUNDS, clock), clock, interval_seconds=0.1))

    assert [[len(piece) for piece in pieces] for pieces in taken] == [[1, 1]]


def test_a_duration_ends_a_paced_sampler_too():
    """As many ticks as of one that is asked; missed rounds are its own to count."""
    clock = FakeClock()
    sampler = PacedList(ROUNDS, clock)
    sampler.n_missed = 3
    ticker = Ticker(sampler, clock, interval_seconds=0.1, duration_seconds=1.2)

    taken = list(ticker)

    assert [len(pieces[0]) for pieces in taken] == [9, 3]
    assert ticker.n_missed == 3


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


def test_a_round_of_several_samples_is_a_batch_already():
    """What a paced sampler gathered does not wait for more: it would be too old after a kill."""
    piece = tuple(joined(parts) for parts in zip(*ROUNDS[:3], strict=True))

    assert list(batched([piece], seconds=9.0)) == [piece]
    assert [len(batch[0]) for batch in batched([ROUNDS[0], tuple(p.between(1, 3) for p in piece)])] == [3]
