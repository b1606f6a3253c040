"""Scopes, evidence and amounts check themselves, and what nobody saw stands above what was seen."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import NOTHING, Account, Amount, Scope, SessionEvidence
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target

INFINITE, NAN = float("inf"), float("nan")
FLOP = st.floats(0, 1e30)
SCOPE = Scope("made", ("GPU-a", "GPU-b"), 0, 90 * 10**9)


def evidence(start_ns: int = 0, stop_ns: int = 1, devices: tuple[str, ...] = ("GPU-a",)) -> SessionEvidence:
    """Return a session that nothing is known of."""
    return SessionEvidence("a-session", start_ns, stop_ns, devices, {})


def account(observed: Amount, *, outside_flop: float = 0.0, unobserved_flop: float = 0.0) -> Account:
    """Return an account with these sums."""
    return Account(
        scope=SCOPE,
        target=Target.EXECUTED,
        method="fused",
        coverage_ratio=0.9,
        sessions=(),
        observed=observed,
        outside_flop=outside_flop,
        unobserved_device_seconds=0.0,
        unobserved_flop=unobserved_flop,
    )


IMPOSSIBLE: dict[str, Callable[[], object]] = {
    "scope of no time": lambda: Scope("made", ("GPU-a",), 5, 5),
    "scope that stops before it starts": lambda: Scope("made", ("GPU-a",), 5, 4),
    "scope of no device": lambda: Scope("made", (), 0, 1),
    "scope with a device twice": lambda: Scope("made", ("GPU-a", "GPU-a"), 0, 1),
    "scope with devices out of order": lambda: Scope("made", ("GPU-b", "GPU-a"), 0, 1),
    "session of no time": lambda: evidence(5, 5),
    "session that stops before it starts": lambda: evidence(5, 4),
    "session of no device": lambda: evidence(devices=()),
    "negative amount": lambda: Amount(-1, 1, 2, 3),
    "point below low": lambda: Amount(2, 1, 3, 4),
    "high below point": lambda: Amount(1, 3, 2, 4),
    "most below high": lambda: Amount(1, 2, 4, 3),
    "infinite point": lambda: Amount(1, INFINITE, INFINITE, INFINITE),
    **{
        f"amount with NaN at {place}": lambda place=place: Amount(
            *(NAN if place == other else 1.0 for other in range(4))
        )
        for place in range(4)
    },
}


@pytest.mark.parametrize("make", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_bad_value_cannot_exist(make: Callable[[], object]):
    """Misuse is an exception when the value is made, not a surprise where it is used."""
    with pytest.raises(InvalidNounError):
        make()


def test_a_scope_is_as_long_as_its_period_times_its_devices():
    """What must have been watched for nothing to be unobserved."""
    assert SCOPE.device_seconds == 180.0


def test_what_nobody_asked_is_unknown():
    """Kind of work and energy of a session: None and NaN, not other work and no energy."""
    held = evidence()

    assert held.opinion is None
    assert math.isnan(held.energy_joules)


@given(st.lists(FLOP, min_size=4, max_size=4).map(sorted))
def test_amounts_in_order_are_amounts(ends: list[float]):
    """Ends may meet."""
    amount = Amount(*ends)

    assert [amount.low_flop, amount.point_flop, amount.high_flop, amount.most_flop] == ends


def test_ignorance_is_an_open_end():
    """High and most may be infinite; nothing is four zeros."""
    assert Amount(0, 1, INFINITE, INFINITE).most_flop == INFINITE
    assert Amount(0, 0, 0, 0) == NOTHING


@given(ends=st.lists(FLOP, min_size=4, max_size=4).map(sorted), outside=FLOP, unobserved=FLOP)
def test_what_nobody_saw_raises_the_upper_ends_alone(ends: list[float], outside: float, unobserved: float):
    """It may have been nothing, so low and point stay what was seen."""
    total = account(Amount(*ends), outside_flop=outside, unobserved_flop=unobserved).total

    assert (total.low_flop, total.point_flop) == (ends[0], ends[1])
    assert total.high_flop == pytest.approx(ends[2] + outside + unobserved)
    assert total.most_flop == pytest.approx(ends[3] + outside + unobserved)


def test_a_device_of_unknown_ceiling_leaves_the_total_open():
    """Infinite stays infinite."""
    total = account(Amount(1, 2, 3, 4), unobserved_flop=INFINITE).total

    assert total == Amount(1, 2, INFINITE, INFINITE)


def test_nothing_is_declared_until_somebody_declares_it():
    """And what was declared cannot be changed through the default."""
    assert dict(account(NOTHING).declared) == {}
    assert account(NOTHING).not_estimated == ()
