"""Time between samples: every second of a session is seen or counted as unobserved."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimate.made import NAN, session_of, trace_of
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.session import cut_session
from flopwitness.estimate.features.steps import StepRule, Steps, session_steps


def steps_of(seconds: list[float], rates: list[float], **ends: float) -> Steps:
    """Return the steps of a trace with one gauge."""
    trace = trace_of(seconds, power_watts=rates)
    return session_steps(session_of(trace, **ends), trace)


def integrated(seconds: list[float], rates: list[float], **ends: float) -> tuple[float, float]:
    """Integrate a gauge that describes the time before each sample."""
    steps = steps_of(seconds, rates, **ends)
    total, unobserved = steps.integrated(steps.mean_of("power_watts"))
    return pytest.approx(total, nan_ok=True), pytest.approx(unobserved)


def test_a_gauge_is_the_mean_since_the_sample_before():
    """NVML GPM answers with the mean over the interval that ends at the sample; the first has none."""
    assert integrated([0, 1, 2, 3], [99.0, 2.0, 4.0, 6.0]) == (12.0, 0.0)


def test_a_step_counts_by_its_share_inside():
    """A session may start and stop amid a step."""
    assert integrated([0, 1, 2, 3], [99.0, 2.0, 4.0, 6.0], start=0.5, stop=2.25) == (1 + 4 + 1.5, 0.0)


def test_a_blank_is_unobserved_and_carried_over():
    """The step that ends in NaN: its second is counted, its rate lies between its neighbours."""
    assert integrated([0, 1, 2, 3], [99.0, 2.0, NAN, 6.0]) == (2 + 4 + 6, 1.0)


def test_a_warm_up_of_blanks_is_not_scored():
    """30 blanks, then 30 samples of 0.5: the mean is 0.5, half a minute is unobserved (geopm/geopm#3550)."""
    rates = [NAN, *[NAN] * 30, *[0.5] * 30]

    assert integrated(list(range(61)), rates) == (0.5 * 60, 30.0)


def test_a_long_step_is_a_gap():
    """Missing rows are not one long sample: whatever stands at the end of the hole is not believed for it."""
    assert integrated([0, 1, 2, 3, 103, 104], [9.0, 2.0, 2.0, 2.0, 50.0, 4.0]) == (6 + 3 * 100 + 4, 100.0)


def test_a_scheduler_that_stalls_for_a_moment_makes_no_gap():
    """0.4 s amid samples every 10 ms is more than five periods, and still below the least gap."""
    assert integrated([0, 0.01, 0.02, 0.42, 0.43], [1.0] * 5) == (0.43, 0.0)


def test_time_outside_the_samples_is_unobserved():
    """A session that reaches beyond its samples at both ends; the mean rate is carried over."""
    assert integrated([1, 2, 3], [9.0, 2.0, 4.0], start=0, stop=5) == (6 * 5 / 2, 3.0)


@pytest.mark.parametrize("seconds", [[], [1.0]])
def test_fewer_than_two_samples_show_nothing(seconds: list[float]):
    """No step, no rate: the whole stretch is unobserved and the total is not 0."""
    assert integrated(seconds, [5.0] * len(seconds), start=0, stop=3) == (NAN, 3.0)


def test_nothing_but_blanks_shows_nothing():
    """The total of what nobody saw is NaN."""
    assert integrated([0, 1, 2], [NAN] * 3) == (NAN, 2.0)


@given(
    steps=st.lists(st.sampled_from([0.1, 0.1, 0.1, 0.3, 2.0]), min_size=1, max_size=30),
    blanks=st.sets(st.integers(0, 30)),
    ends=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_seen_and_unobserved_seconds_add_up_to_the_session(
    steps: list[float], blanks: set[int], ends: tuple[float, float]
):
    """However samples are spread: no second is lost and none is counted twice."""
    time = np.cumsum([0.0, *steps])
    rates = [NAN if index in blanks else 1.0 for index in range(len(time))]
    trace = trace_of(time, power_watts=rates)
    low, high = sorted(round(share * 1.4 * time[-1] * 1e9) for share in ends)
    session = cut_session((trace,), int(trace.time_ns[0]) + low, int(trace.time_ns[0]) + high + 1)

    cut = session_steps(session, session.traces[0])
    unobserved = cut.integrated(cut.mean_of("power_watts")).unobserved_seconds
    seen = cut.weight_seconds[np.isfinite(cut.mean_of("power_watts")) & ~cut.is_gap].sum()

    assert seen + unobserved == pytest.approx(session.duration_seconds, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    "rule", [{"max_step_periods": 1.0}, {"min_gap_seconds": 0.0}, {"max_step_periods": NAN}]
)
def test_a_rule_that_calls_every_step_a_gap_is_refused(rule: dict[str, float]):
    """Periods above 1, seconds above 0."""
    with pytest.raises(InvalidNounError, match="step rule out of range"):
        StepRule(**rule)
