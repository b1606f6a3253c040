"""Sums of old samples and what is recent give the features of the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.detector import pieces_at
from estimate.made import BUSY, GPU_A, START_NS, busy_trace, every, features_of, trace_of
from flopwitness.app.tally import MAX_USELESS_SAMPLES, Tally, added, stub_session
from flopwitness.core.trace import Trace
from flopwitness.estimate.features.row import FEATURE_NAMES

SECOND = 10**9


def varied_trace(n_samples: int = 1200, seed: int = 0) -> Trace:
    """Return two minutes of changing work."""
    rng = np.random.default_rng(seed)
    watts = rng.uniform(300, 700, n_samples)
    return busy_trace(
        n_samples,
        **{name: rng.uniform(0.1, 0.9, n_samples) for name in BUSY},
        sm_clock_hertz=rng.uniform(1e9, 1.9e9, n_samples),
        power_watts=watts,
        energy_joules_total=1e9 + np.cumsum(watts) / 10,
    )


def tally_of(trace: Trace, *, n_pieces: int = 40) -> Tally:
    """Return a tally that was fed piece by piece."""
    first, *rest = pieces_at(trace, np.linspace(0, len(trace), n_pieces + 1).astype(int))
    tally = Tally(first)
    for piece in rest:
        tally.append(piece)
    return tally


def compacted(trace: Trace, *, seconds: int) -> Tally:
    """Return a tally that summed what was older than a minute, again and again."""
    first, *rest = pieces_at(trace, range(0, len(trace), 10))
    tally = Tally(first)
    for piece in rest:
        tally.append(piece)
        tally.compact(tally.last_ns - seconds * SECOND, [START_NS], stretch_ns=seconds * SECOND)
    return tally


@pytest.mark.parametrize("seconds", [5, 20])
def test_summed_stretches_equal_the_whole(seconds: int):
    """Within 1e-9, every column, whatever the size of the stretches."""
    trace = varied_trace()
    expected = features_of(trace, idle_watts=0.0)

    tally = compacted(trace, seconds=seconds)
    summed = tally.features(START_NS, tally.last_ns)

    assert tally.n_kept < 2 * (seconds + 2) * 10
    assert [summed.values[name] for name in FEATURE_NAMES] == pytest.approx(expected.row(), rel=1e-9)
    assert summed.n_samples + summed.starts_at_sample == len(trace)


def test_without_compaction_features_are_those_of_the_session_to_the_last_bit():
    """A short workload is estimated from its samples, as a recording of it is."""
    trace = varied_trace(100)

    values = tally_of(trace).features(START_NS, int(trace.time_ns[-1])).values

    assert values == features_of(trace, idle_watts=0.0).values


def test_a_stretch_is_cut_where_every_channel_answered():
    """A blank is filled in from its neighbours, so no cut falls beside one: the sum stays exact."""
    blank = varied_trace()["hmma_active_ratio"].copy()
    blank[95:118] = np.nan
    whole = varied_trace()
    trace = Trace(whole.device, whole.time_ns, {**whole.channels, "hmma_active_ratio": blank})
    expected = features_of(trace, idle_watts=0.0)

    tally = compacted(trace, seconds=10)

    summed = tally.features(START_NS, tally.last_ns)
    assert [summed.values[name] for name in FEATURE_NAMES] == pytest.approx(expected.row(), rel=1e-9)


@pytest.mark.parametrize("period", [20, 70])
def test_a_stretch_is_cut_where_a_counter_that_is_read_seldom_stands(period: int):
    """Energy is read every few seconds: a cut in between would lose what it gathered since."""
    whole = varied_trace()
    seldom = np.where(np.arange(len(whole)) % period == 0, 1.0, np.nan)
    sparse = {name: whole[name] * seldom for name in ("energy_joules_total", "power_watts")}
    sparse["temperature_celsius"] = np.roll(seldom, 3)
    trace = Trace(whole.device, whole.time_ns, {**whole.channels, **sparse}).between(0, 1121)
    expected = features_of(trace, idle_watts=0.0)

    tally = compacted(trace, seconds=10)
    summed = tally.features(START_NS, tally.last_ns)

    assert tally.n_kept < 400
    assert [summed.values[name] for name in FEATURE_NAMES] == pytest.approx(expected.row(), rel=1e-9)


@settings(deadline=None, max_examples=25)
@given(at=st.integers(1, 1198))
def test_a_workload_that_starts_at_a_boundary_is_cut_there(at: int):
    """Where a partner's work began, sums end: its own figures can still be told."""
    trace = varied_trace()
    boundary_ns = int(trace.time_ns[at])
    tally = tally_of(trace)

    tally.compact(int(trace.time_ns[-2]), [START_NS, boundary_ns], stretch_ns=SECOND)

    expected = features_of(trace.between(at - 1, len(trace)), idle_watts=0.0, start=at / 10)
    summed = tally.features(boundary_ns, tally.last_ns)
    assert [summed.values[name] for name in FEATURE_NAMES] == pytest.approx(expected.row(), rel=1e-9)


def test_what_was_not_seen_in_one_stretch_takes_the_rate_of_the_others():
    """Unknown is not zero: an hour without an answer counts as the hour beside it, and as unobserved."""
    seen = tally_of(busy_trace(101)).features(START_NS, START_NS + 10 * SECOND)
    blind = trace_of(every(0.1, 101), GPU_A, sm_clock_hertz=1.5e9)
    unseen = tally_of(blind).features(START_NS, START_NS + 10 * SECOND)

    both = added([seen, unseen]).values

    assert both["matrix_flop"] == pytest.approx(2 * seen.values["matrix_flop"])
    assert both["activity_unobserved_seconds"] == pytest.approx(10.0)


def test_what_was_never_seen_stays_unknown():
    """No rate is carried over from nowhere."""
    blind = tally_of(trace_of(every(0.1, 101), GPU_A, sm_clock_hertz=1.5e9))
    part = blind.features(START_NS, START_NS + 5 * SECOND)

    assert np.isnan(added([part, part]).values["matrix_flop"])


def test_a_share_of_a_stretch_is_a_share_of_its_sums():
    """Asked about an instant that was summed long ago, the stretch counts as even."""
    part = tally_of(busy_trace(101)).features(START_NS, START_NS + 10 * SECOND)

    half = part.within(START_NS, START_NS + 5 * SECOND)

    assert half.values["matrix_flop"] == pytest.approx(part.values["matrix_flop"] / 2)
    assert part.within(0, 2**62) is part


def test_samples_that_nobody_needs_go():
    """An idle day leaves nothing behind, but the one sample that interpolation may need."""
    tally = tally_of(varied_trace(), n_pieces=1200)
    joined_tally = tally_of(varied_trace(), n_pieces=1)

    for each in (tally, joined_tally):
        each.forget_before(each.last_ns)

    assert tally.n_kept == 1
    assert joined_tally.n_kept <= MAX_USELESS_SAMPLES


def test_a_stub_has_the_identity_of_the_session():
    """Its name is made from stretch and devices alone."""
    trace = busy_trace()
    session = stub_session(5, 9, [trace.device], "stalled")

    assert (session.session_id, session.n_samples) == (stub_session(5, 9, [trace.device], "").session_id, 0)
