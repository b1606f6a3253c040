"""Each session counts once; what nobody saw has a line of its own."""

from dataclasses import replace
from math import inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import DeviceWatch, SessionEvidence
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.finding import Finding
from flopwitness.verify.dependence import Dependence
from verify.made_accounts import (
    CEILING,
    SECOND,
    WATCHED,
    estimate,
    made_account,
    session,
    session_lists,
    watch,
)


def stalled(start: float, stop: float, *devices: str) -> SessionEvidence:
    """Return a session of which findings call all stalled."""
    findings = [Finding("stalled", "waits", subject=uuid) for uuid in devices]
    span = {"start_ns": round(start * SECOND), "stop_ns": round(stop * SECOND)}
    return session(start, stop, *devices, findings=[replace(one, **span) for one in findings])


def test_sessions_of_a_scope_are_added_up() -> None:
    """Ends add where all errors are shared."""
    found = made_account([session(10, 20), session(30, 40)])

    assert (found.observed.low_flop, found.observed.point_flop) == (190.0, 200.0)
    assert found.total == found.observed
    assert found.unobserved_device_seconds == 0


def test_a_session_outside_the_scope_counts_nothing() -> None:
    """Neither another time nor another device is in it."""
    others = [session(2000, 2010), session(10, 20, "GPU-z")]

    assert made_account(others).sessions == ()


def test_a_session_partly_outside_counts_nothing_for_sure_and_all_at_most() -> None:
    """It says so itself, with the share that lies inside."""
    (found,) = made_account([session(990, 1010)]).sessions
    account = made_account([session(990, 1010)])

    assert account.observed.low_flop == 0
    assert account.observed.point_flop == pytest.approx(50.0)
    assert account.observed.high_flop == pytest.approx(105.0)
    assert "50.0%" in found.findings[-1].message


def test_a_session_on_a_device_outside_is_partly_outside() -> None:
    """Half of its device time is not asked for."""
    account = made_account([session(10, 20, "GPU-a", "GPU-z")])

    assert (account.observed.low_flop, account.observed.point_flop) == (0.0, 50.0)
    assert account.sessions[0].devices == ("GPU-a",)


def test_the_same_time_of_a_device_twice_is_refused_by_name() -> None:
    """Both sessions, the device and the overlap are named."""
    with pytest.raises(InvalidNounError, match=r"10-20-GPU-a.*15-25-GPU-a.*device GPU-a.*5\.000 s"):
        made_account([session(10, 20, "GPU-a"), session(15, 25, "GPU-a")])


def test_a_session_within_a_long_one_is_refused_even_after_a_short_one() -> None:
    """The longest so far is what counts, not the one just before."""
    with pytest.raises(InvalidNounError, match="30-40"):
        made_account([session(10, 50, "GPU-a"), session(11, 12, "GPU-b"), session(30, 40, "GPU-a")])


def test_a_session_given_twice_is_refused_as_such() -> None:
    """Identity and digest are the same: somebody named a source twice."""
    with pytest.raises(InvalidNounError, match="given twice, with the same digest"):
        made_account([session(), session()])


def test_sessions_of_different_devices_may_overlap() -> None:
    """Two jobs on one node count both."""
    found = made_account([session(10, 20, "GPU-a"), session(15, 25, "GPU-b")])

    assert found.observed.point_flop == 200.0


def test_waiting_beside_work_counts_at_the_high_end_alone() -> None:
    """The time is in the work of the partners already."""
    found = made_account([session(10, 50), stalled(20, 30, "GPU-b")])

    assert (found.observed.low_flop, found.observed.point_flop) == (95.0, 100.0)
    assert found.observed.high_flop == pytest.approx(210.0)


def test_work_that_only_mentions_a_stall_is_no_waiting() -> None:
    """A session with one stalled device of two still may not count twice."""
    partly = replace(session(20, 30), findings=stalled(20, 30, "GPU-b").findings)

    with pytest.raises(InvalidNounError, match="may not count twice"):
        made_account([session(10, 50), partly])


def test_time_that_nobody_watched_is_a_line_of_its_own() -> None:
    """Nothing at the low end, the ceiling at the high one."""
    found = made_account([], [watch("GPU-a", (0, 400), (600, 1000)), watch("GPU-b")])

    assert found.unobserved_device_seconds == 200.0
    assert found.unobserved_flop == 200 * CEILING
    assert (found.total.low_flop, found.total.high_flop) == (0.0, 200 * CEILING)


def test_several_watches_of_a_device_are_one() -> None:
    """What one recorder missed another may have seen."""
    parts = [watch("GPU-a", (0, 500), outside=1.0), watch("GPU-a", (400, 1000), outside=2.0)]

    found = made_account([], [*parts, watch("GPU-b")])

    assert (found.unobserved_device_seconds, found.outside_flop) == (0.0, 3.0)


def test_a_session_bounds_its_own_gaps() -> None:
    """Time without samples inside a session is in its bounds: it does not count again."""
    watches = [watch("GPU-a", (0, 12), (18, 1000)), watch("GPU-b")]

    assert made_account([session(10, 20)], watches).unobserved_device_seconds == 0


def test_a_device_of_which_nobody_speaks_has_no_bound() -> None:
    """Unwatched is not idle, and without a chip there is no ceiling."""
    found = made_account([session(10, 20, "GPU-a")], [watch("GPU-a")])

    assert found.unobserved_device_seconds == 1000.0
    assert (found.total.high_flop, found.total.point_flop) == (inf, 100.0)


def test_a_device_that_only_its_chip_is_known_of_is_bounded_by_it() -> None:
    """A watch without stretches is a ceiling and nothing else."""
    found = made_account([], [watch("GPU-a"), DeviceWatch("GPU-b", "H200-SXM", (), CEILING)])

    assert found.unobserved_flop == 1000 * CEILING


def test_a_session_without_an_estimate_is_as_if_nobody_had_watched() -> None:
    """Nothing is known of its FLOP but the ceiling."""
    silent = replace(session(10, 20), estimates={})

    found = made_account([silent])

    assert found.not_estimated == (silent.session_id,)
    assert (found.unobserved_device_seconds, found.unobserved_flop) == (20.0, 20 * CEILING)
    assert found.observed.high_flop == 0


def test_what_was_seen_outside_sessions_is_a_line_of_its_own() -> None:
    """Small activity is bounded, not forgotten."""
    found = made_account([session()], [watch("GPU-a", outside=7.0), watch("GPU-b")])

    assert found.outside_flop == 7.0
    assert found.total.high_flop == pytest.approx(112.0)


def test_bounds_that_were_opened_do_not_average_out() -> None:
    """A session that says that time in it was unobserved adds end to end."""
    opened = [Finding("unobserved-time", "2 % unseen")]
    pair = [session(10, 20, findings=opened), session(30, 40, findings=opened)]

    found = made_account(pair, dependence=Dependence(shared_ratio=0.0))

    assert found.observed.low_flop == pytest.approx(190.0)


@given(sessions=session_lists(min_size=1), seed=st.randoms(use_true_random=False))
def test_an_account_does_not_depend_on_the_order(sessions: list[SessionEvidence], seed: Random) -> None:
    """The same evidence is the same account."""
    shuffled = list(sessions)
    seed.shuffle(shuffled)

    assert made_account(sessions) == made_account(shuffled)


@given(sessions=session_lists(min_size=1))
def test_leaving_a_session_out_lowers_every_end(sessions: list[SessionEvidence]) -> None:
    """Evidence of more work never lowers a bound while its time is watched."""
    whole, part = made_account(sessions).total, made_account(sessions[1:]).total

    for name in ("low_flop", "point_flop", "high_flop", "most_flop"):
        assert getattr(whole, name) >= getattr(part, name) - 1e-9 * whole.point_flop


@given(sessions=session_lists(), stop=st.integers(1, 999))
def test_watching_less_never_lowers_the_high_end(sessions: list[SessionEvidence], stop: int) -> None:
    """Nobody gains by switching the monitor off."""
    less = [watch("GPU-a", (0, stop)), watch("GPU-b")]

    assert made_account(sessions, less).total.high_flop >= made_account(sessions, WATCHED).total.high_flop


def test_an_account_takes_the_least_coverage_of_its_sessions() -> None:
    """Bounds of several coverages promise what the weakest does."""
    weak = replace(estimate(), coverage_ratio=0.8)

    assert made_account([session(10, 20), session(30, 40, told=weak)]).coverage_ratio == 0.8
