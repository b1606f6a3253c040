"""Small nouns that check themselves: a bad one cannot exist."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError, FlopWitnessError, InvalidNounError
from flopwitness.core.estimate import Estimate
from flopwitness.core.workload import GroundTruth, Run, Target, WorkloadConfig

INFINITE = float("inf")


def estimate(low: float, point: float, high: float, coverage: float = 0.9) -> Estimate:
    """Return an estimate with these bounds."""
    return Estimate(point, low, high, coverage, "fused", Target.EXECUTED)


IMPOSSIBLE: dict[str, Callable[[], object]] = {
    "device without UUID": lambda: Device(""),
    "point below low": lambda: estimate(2, 1, 3),
    "point above high": lambda: estimate(1, 3, 2),
    "negative low": lambda: estimate(-1, 1, 2),
    "infinite point": lambda: estimate(0, INFINITE, INFINITE),
    "at most less than high": lambda: replace(estimate(1, 2, 3), most_flop=2.5),
    "at most unknown": lambda: replace(estimate(1, 2, 3), most_flop=float("nan")),
    "coverage of all": lambda: estimate(1, 2, 3, 1.0),
    "truth of nothing": lambda: GroundTruth(algorithmic_flop=0.0),
    "infinite truth": lambda: GroundTruth(executed_flop=INFINITE),
    "run that stops before it starts": lambda: Run(WorkloadConfig("a", "b"), 5, 5, GroundTruth()),
}


@pytest.mark.parametrize("make", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_bad_value_cannot_exist(make: Callable[[], object]):
    """Misuse is an exception when the value is made, not a surprise where it is used."""
    with pytest.raises(InvalidNounError):
        make()


def test_an_open_end_is_a_value():
    """Ignorance is an infinite bound, not an error."""
    open_ended = estimate(0, 1, INFINITE)

    assert open_ended.contains(1e30)
    assert open_ended.width_ratio == INFINITE


def test_what_it_was_at_most_is_open_until_said():
    """No method holds against workloads that hide unless it says so; the high end itself may be it."""
    assert estimate(1, 2, 3).most_flop == INFINITE
    assert replace(estimate(1, 2, 3), most_flop=3.0).most_flop == 3.0


def test_a_width_over_a_point_of_zero_is_infinite():
    """A relative width of nothing says nothing."""
    assert estimate(0, 0, 1).width_ratio == INFINITE


def test_a_truth_is_asked_for_by_target():
    """Two counts of one run are never mixed up."""
    truth = GroundTruth(algorithmic_flop=3.0, executed_flop=2.0)

    assert (truth.flop(Target.ALGORITHMIC), truth.flop(Target.EXECUTED)) == (3.0, 2.0)


@pytest.mark.parametrize(
    "parameters", [{"batch": 8}, {"batch": 8, "steps": 2.5}, {"batch": True, "steps": 1}]
)
def test_hyper_parameters_that_are_no_integers_are_not_guessed(parameters: dict[str, int | float | bool]):
    """Missing, fractional and boolean values all give nothing."""
    assert WorkloadConfig("a", "b", parameters).integers("batch", "steps") is None


def test_a_bad_input_is_one_line_that_names_everything():
    """File, field, what was expected and what came, whatever line breaks came with it."""
    error = BadInputError("samples.csv", "line 2", expected="a number", got="'a\nb'")

    assert str(error) == "samples.csv: line 2: expected a number, got 'a b'"
    assert isinstance(error, FlopWitnessError)
