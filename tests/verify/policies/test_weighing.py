"""What counts for sure, and what an account can come to at most."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import Amount
from flopwitness.core.workclass import WorkClass
from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.policies.weighing import Reading, weighed
from verify.made_accounts import ALARM, estimate, made_account, session, session_lists, watch

NAMES = st.sampled_from([name for name, one in CONVENTIONS.items() if one.target.value == "executed"])


@given(name=NAMES, sessions=session_lists(min_size=1), kept=st.integers(0, 999))
def test_what_is_sure_lies_inside_what_is_possible(name: str, sessions: list, kept: int) -> None:
    """Whatever the convention and the gaps: ends are ordered, and so are the probabilities."""
    account = made_account(sessions, [watch("GPU-a", (0, kept)), watch("GPU-b")])

    found = weighed(account, Reading(CONVENTIONS[name], {}))

    assert found.sure.low_flop <= found.total.low_flop + 1e-9 <= found.total.high_flop + 1e-9
    assert found.total.low_flop <= account.observed.low_flop
    assert found.total.high_flop >= account.total.high_flop * (1 - 1e-9)
    least, most = found.probability_over(account.total.point_flop + 1.0)
    assert 0 <= least <= most <= 1


def test_an_open_end_stays_open_through_every_convention() -> None:
    """No conversion bounds what nobody bounded."""
    account = made_account([session(told=estimate(100, 0.9, inf))])

    assert weighed(account, Reading(CONVENTIONS["eu-cumulative"], {})).total.high_flop == inf


def test_what_may_not_count_is_left_out_of_what_is_sure_alone() -> None:
    """Alarmed sessions in every convention, other work where training is counted."""
    account = made_account(
        [session(10, 20, findings=[ALARM]), session(30, 40, kind=WorkClass.OTHER), session(50, 60)]
    )

    everything, training = (
        weighed(account, Reading(CONVENTIONS[name], {})) for name in ("executed", "us-operations")
    )

    assert everything.total.low_flop == pytest.approx(190.0)
    assert training.sure.high_flop <= 105.0
    assert (len(everything.left_out), len(training.left_out)) == (1, 2)
    assert everything.total.high_flop == training.total.high_flop == pytest.approx(315.0)
    assert any("not recognised as training" in one for one in training.notes)


def test_a_reading_moves_each_end_of_an_amount_by_itself() -> None:
    """At the low end every conversion is at its lowest, at the high end at its highest."""
    reading = Reading(CONVENTIONS["eu-cumulative"], {})
    amount = Amount(90.0, 100.0, 110.0, 120.0)

    least, most = reading.least(amount), reading.most(amount)

    factor = least.low_flop / 90.0
    assert factor < 1
    assert least.point_flop == pytest.approx(100 * factor)
    assert most == amount
