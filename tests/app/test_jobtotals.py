"""No FLOP is lost however sessions were linked: the totals of jobs add up to the total of sessions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.app.jobtotals import NOTHING, job_totals
from flopwitness.core.estimate import Estimate
from flopwitness.core.workload import Target
from flopwitness.detect.jobs.chain import Placed

FLOP = st.floats(0, 1e18)
SESSIONS = st.lists(st.tuples(FLOP, FLOP, FLOP, st.sampled_from("abc")), max_size=20)


def estimate_of(low: float, point: float, high: float, method: str = "fused") -> Estimate:
    """Return an estimate with these figures, whatever their order."""
    low, point, high = sorted((low, point, high))
    return Estimate(point, low, high, 0.9, method, Target.EXECUTED)


@given(SESSIONS)
def test_totals_of_jobs_add_up_to_the_total_of_sessions(sessions: list[tuple[float, float, float, str]]):
    """Points, low and high ends, whatever the links."""
    placed = [Placed(job_id, 1, 1, None) for *_, job_id in sessions]
    estimates = [estimate_of(*figures) for *figures, _ in sessions]

    totals = job_totals(placed, [{Target.EXECUTED: {"fused": one}} for one in estimates])

    by_job = [total.flop[Target.EXECUTED]["fused"] for total in totals.values()]
    assert sum(total.n_sessions for total in totals.values()) == len(sessions)
    for place, name in enumerate(("point_flop", "low_flop", "high_flop")):
        expected = sum(getattr(one, name) for one in estimates)
        assert sum(flop[place] for flop in by_job) == pytest.approx(expected, rel=1e-12)


def test_a_method_that_did_not_answer_each_time_has_no_total():
    """A part would pass for the whole."""
    first, second = estimate_of(1, 2, 3), estimate_of(1, 2, float("inf"))

    total = NOTHING.plus({Target.EXECUTED: {"fused": first, "linear-power": first}})
    total = total.plus({Target.EXECUTED: {"fused": second, "other": second}})

    assert dict(total.flop[Target.EXECUTED]) == {"fused": (4.0, 2.0, float("inf"))}
