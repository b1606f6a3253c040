"""What every policy must do: subclass, say how to make one, inherit the tests."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopwitness.core.account import Account, SessionEvidence
from flopwitness.core.ports import Policy
from flopwitness.core.verdict import Outcome, Standing, Verdict
from flopwitness.core.workload import Target
from verify.made_accounts import ALARM, METHOD, SCOPE, estimate, made_account, session, session_lists, watch

APPROVING = frozenset({Outcome.CONSISTENT, Standing.BELOW})
AGAINST = frozenset({Outcome.INCONSISTENT, Standing.ABOVE})
LAW = settings(deadline=None, suppress_health_check=[HealthCheck.differing_executors])
"""Each subclass runs the laws by itself."""

CLEAR_FLOP = 1000.0
"""What the evidence of a clear account comes to."""


def clear(*, findings: tuple[object, ...] = ()) -> Account:
    """Return an account of ten sessions, all watched, of 1000 FLOP within 5 %."""
    return made_account([session(20 * k, 20 * k + 10, findings=findings) for k in range(10)])


def widened(one: SessionEvidence, by: float) -> SessionEvidence:
    """Return a session with its ends further apart: zero leaves them, one opens the low end fully."""
    found = one.estimates[Target.EXECUTED][METHOD]
    wider = replace(
        found,
        low_flop=found.low_flop * (1 - by),
        high_flop=found.high_flop * (1 + by),
        most_flop=found.most_flop * (1 + by),
    )
    return replace(one, estimates={Target.EXECUTED: {METHOD: wider}})


class PolicyContract:
    """Implement ``make_policy``: one that approves of ``clear()``."""

    needs_sessions = True
    """Whether nothing is approved of without a session; physics alone may do."""

    def make_policy(self) -> Policy:
        """Make one that approves of ``clear()``."""
        raise NotImplementedError

    def judged(self, account: Account) -> Verdict:
        """Return the verdict on an account."""
        return self.make_policy().judge(account)

    def test_it_is_a_policy(self) -> None:
        """Whatever judges an account fits the port."""
        assert isinstance(self.make_policy(), Policy)

    def test_clear_evidence_is_approved_of(self) -> None:
        """What follows would be empty without it."""
        verdict = self.judged(clear())

        assert verdict.answer in APPROVING
        assert verdict.would_settle == ()

    def test_a_verdict_names_what_it_rests_on(self) -> None:
        """Digests of all sessions, and a reason."""
        verdict = self.judged(clear())

        assert set(verdict.evidence_digests) == {f"{20 * k}" for k in range(10)}
        assert all(verdict.reasons)

    def test_no_evidence_is_never_approved_of(self) -> None:
        """Nobody watched, nothing is bounded: nothing can be said."""
        verdict = self.judged(made_account([], []))

        assert verdict.answer not in APPROVING | AGAINST

    def test_no_session_is_approved_of_by_physics_alone(self) -> None:
        """Where a policy wants evidence of work, silence is none."""
        verdict = self.judged(made_account([]))

        assert (verdict.answer in APPROVING) is not self.needs_sessions

    def test_sessions_without_an_estimate_are_no_evidence(self) -> None:
        """A method that has no answer approves of nothing."""
        silent = replace(session(0, 1000), estimates={})

        assert self.judged(made_account([silent])).answer not in APPROVING

    def test_evidence_that_contradicts_itself_is_never_approved_of(self) -> None:
        """An alarm in one session is enough."""
        verdict = self.judged(clear(findings=(ALARM,)))

        assert verdict.answer not in APPROVING
        assert any("alarm" in reason for reason in verdict.reasons)

    def test_what_is_open_says_what_would_settle_it(self) -> None:
        """An answer that decides nothing is of use only with that."""
        verdict = self.judged(made_account([session()], [watch("GPU-a", (0, 500)), watch("GPU-b")]))

        assert verdict.answer not in APPROVING | AGAINST
        assert verdict.would_settle

    @LAW
    @given(sessions=session_lists(min_size=1), by=st.floats(0, 1))
    def test_wider_bounds_never_decide_what_narrow_ones_left_open(
        self, sessions: list[SessionEvidence], by: float
    ) -> None:
        """Less certainty about every session turns no open answer into one that decides."""
        narrow = self.judged(made_account(sessions))
        wide = self.judged(made_account([widened(one, by) for one in sessions]))

        if narrow.answer not in APPROVING | AGAINST:
            assert wide.answer not in APPROVING | AGAINST
        if narrow.answer not in APPROVING:
            assert wide.answer not in APPROVING

    @LAW
    @given(sessions=session_lists(min_size=1), stop=st.integers(0, 999))
    def test_watching_less_never_brings_approval(self, sessions: list[SessionEvidence], stop: int) -> None:
        """Nobody gains by switching the monitor off."""
        less = [watch("GPU-a", (0, stop)), watch("GPU-b", (0, stop))]

        if self.judged(made_account(sessions)).answer not in APPROVING:
            assert self.judged(made_account(sessions, less)).answer not in APPROVING

    def test_an_account_of_another_target_is_refused(self) -> None:
        """Executed and algorithmic FLOP are never compared without a conversion."""
        other = replace(made_account([session(told=estimate())]), target=Target.ALGORITHMIC)

        with pytest.raises(Exception, match="algorithmic"):
            self.make_policy().judge(other)

    def test_the_scope_of_these_tests_is_watched_whole(self) -> None:
        """Else the unobserved line would decide them all."""
        assert clear().unobserved_device_seconds == 0 < SCOPE.device_seconds
