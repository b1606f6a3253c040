"""Errors that sessions share do not average out; how much they share is measured."""

import math
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.account import Amount
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.estimate import Estimate
from flopwitness.verify.dependence import ALL_SHARED, Dependence, Part, fitted_dependence, summed
from verify.made_accounts import estimate, estimates

PARTS = st.lists(st.tuples(estimates(), st.booleans()), max_size=6).map(
    lambda found: [Part(f"s{number}", one, opened) for number, (one, opened) in enumerate(found)]
)


@st.composite
def dependences(draw: st.DrawFn) -> Dependence:
    """Any shares, and some workloads known."""
    shared = draw(st.floats(0, 1))
    workload = draw(st.floats(0, 1 - shared))
    names = st.sampled_from([f"s{number}" for number in range(6)])
    return Dependence(shared, workload, draw(st.dictionaries(names, st.sampled_from("ab"))))


def close(first: Amount, second: Amount) -> bool:
    """Say whether two amounts agree but for rounding."""
    names = ("low_flop", "point_flop", "high_flop", "most_flop")
    return all(getattr(first, one) == pytest.approx(getattr(second, one), abs=1e-6) for one in names)


def test_everything_shared_is_the_sum_of_the_ends() -> None:
    """Where nothing averages out, bounds add."""
    found = summed([Part("a", estimate(100)), Part("b", estimate(300))], ALL_SHARED)

    assert close(found, Amount(380.0, 400.0, 420.0, 480.0))


def test_independent_errors_add_as_roots_of_squares_each_end_for_itself() -> None:
    """Ends of one session may lie unequally far from its point."""
    parts = [Part("a", estimate(100, 0.97, 1.06)), Part("b", estimate(100, 0.96, 1.08))]

    found = summed(parts, Dependence(shared_ratio=0.0))

    assert (found.low_flop, found.high_flop) == (pytest.approx(195.0), pytest.approx(210.0))


def test_what_a_workload_shares_adds_within_it_alone() -> None:
    """Two sessions of one workload err together, a third of another does not."""
    names = {"a": "one", "b": "one", "c": "other"}
    dependence = Dependence(0.0, 1.0, names)

    assert dependence.half_width({"a": 1.0, "b": 2.0, "c": 4.0}) == pytest.approx(5.0)


def test_sessions_of_unknown_workload_are_one_workload() -> None:
    """Whoever does not know may not average."""
    assert Dependence(0.0, 1.0).half_width({"a": 1.0, "b": 2.0}) == pytest.approx(3.0)


def test_bounds_that_hold_more_than_errors_add_end_to_end() -> None:
    """Unobserved time inside sessions is no error that averages out."""
    parts = [Part("a", estimate(100), is_opened=True), Part("b", estimate(100), is_opened=True)]

    found = summed(parts, Dependence(shared_ratio=0.0))

    assert found.high_flop == pytest.approx(210.0)


def test_an_open_end_stays_open() -> None:
    """Infinite plus anything is infinite, however errors combine."""
    parts = [Part("a", estimate(100, high=inf)), Part("b", estimate(100))]

    found = summed(parts, Dependence(shared_ratio=0.3))

    assert (found.high_flop, found.most_flop) == (inf, inf)
    assert found.low_flop > 0


@given(parts=PARTS, dependence=dependences(), added=estimates())
def test_a_session_more_lowers_no_bound(parts: list[Part], dependence: Dependence, added: Estimate) -> None:
    """No operator gains by being caught at more work."""
    before = summed(parts, dependence)
    after = summed([*parts, Part("s9", added)], dependence)

    for name in ("low_flop", "point_flop", "high_flop", "most_flop"):
        rounding = 1e-12 * before.most_flop if math.isfinite(before.most_flop) else 0.0
        assert getattr(after, name) >= getattr(before, name) * (1 - 1e-9) - rounding


@given(parts=PARTS, dependence=dependences(), seed=st.integers(0, 99))
def test_the_order_does_not_matter(parts: list[Part], dependence: Dependence, seed: int) -> None:
    """The same sessions are the same amount, to the last bit."""
    shuffled = [parts[number] for number in np.random.default_rng(seed).permutation(len(parts))]

    assert summed(parts, dependence) == summed(shuffled, dependence)


@given(parts=PARTS, dependence=dependences())
def test_no_dependence_is_wider_than_sharing_everything(parts: list[Part], dependence: Dependence) -> None:
    """Sharing less only narrows; what an adversary can do stays."""
    widest, found = summed(parts, ALL_SHARED), summed(parts, dependence)

    assert found.low_flop >= widest.low_flop - 1e-6 * widest.point_flop
    assert found.high_flop <= widest.high_flop * (1 + 1e-9)
    assert found.most_flop == pytest.approx(widest.most_flop)


@given(one=estimates(), share=st.floats(0.01, 0.99))
def test_splitting_a_session_changes_nothing_where_all_is_shared(one: Estimate, share: float) -> None:
    """Two parts with the same relative errors are the whole."""
    parts = [
        Part(name, estimate(one.point_flop * part, *_shares(one)))
        for name, part in (("a", share), ("b", 1 - share))
    ]

    assert close(summed(parts, ALL_SHARED), summed([Part("whole", one)], ALL_SHARED))


def _shares(one: Estimate) -> tuple[float, float, float]:
    return tuple(getattr(one, name) / one.point_flop for name in ("low_flop", "high_flop", "most_flop"))


@given(parts=PARTS, dependence=dependences(), factor=st.floats(0.1, 10))
def test_bounds_scale_with_the_sessions(parts: list[Part], dependence: Dependence, factor: float) -> None:
    """Twice the work is twice the bounds."""
    scaled = [
        part._replace(estimate=estimate(part.estimate.point_flop * factor, *_shares(part.estimate)))
        for part in parts
    ]
    whole, found = summed(parts, dependence), summed(scaled, dependence)

    assert found.high_flop == pytest.approx(factor * whole.high_flop)
    assert found.low_flop == pytest.approx(factor * whole.low_flop, abs=1e-6 * found.point_flop)


@pytest.mark.parametrize("shares", [(-0.1, 0.0), (0.7, 0.4), (1.1, 0.0), (float("nan"), 0.0)])
def test_shares_that_are_none_are_refused(shares: tuple[float, float]) -> None:
    """Shares of a variance lie in [0, 1] together."""
    with pytest.raises(InvalidNounError, match="shares"):
        Dependence(*shares)


def test_shares_are_found_again_in_errors_that_were_made_with_them() -> None:
    """Half of the variance the workload's, a quarter the node's, a quarter the session's own."""
    rng = np.random.default_rng(0)
    nodes, workloads, errors = [], [], []
    by_node = rng.normal(0, 0.5, 200)
    for node in range(200):
        for workload in range(10):
            of_workload = rng.normal(0, 2**-0.5)
            for _ in range(3):
                nodes.append(f"n{node}")
                workloads.append(f"w{workload}")
                errors.append(by_node[node] + of_workload + rng.normal(0, 0.5))

    found = fitted_dependence(errors, nodes, workloads)

    # the mean of ten workloads and thirty sessions is noise in a node's: 1/20 + 1/120 of the variance more
    assert found.shared_ratio == pytest.approx(0.25 + 1 / 20 + 1 / 120, abs=0.04)
    assert found.own_ratio == pytest.approx(0.25, abs=0.02)


def test_an_error_of_the_whole_calibration_is_shared() -> None:
    """A calibration that is off everywhere averages nothing out."""
    found = fitted_dependence([0.1, 0.1, 0.1, 0.1], ["n"] * 4, ["a", "a", "b", "b"])

    assert (found.shared_ratio, found.own_ratio) == (pytest.approx(1.0), pytest.approx(0.0, abs=1e-9))


@pytest.mark.parametrize(
    ("errors", "workloads"),
    [([0.1, 0.2], ["a", "b"]), ([0.1], ["a", "b"]), ([0.1, float("nan")], ["a", "a"])],
)
def test_errors_that_say_nothing_of_a_sessions_own_part_are_refused(
    errors: list[float], workloads: list[str]
) -> None:
    """One session of each workload cannot tell its own error from the workload's."""
    with pytest.raises(InvalidNounError):
        fitted_dependence(errors, ["n"] * len(workloads), workloads)
