"""When a rank works: stretches, pauses, sleeps and turns, with a group that is played."""

from collections.abc import Callable

import pytest

from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab import tempo
from flopwitness.lab.settings import Settings
from flopwitness.lab.tempo import Tempo, shares, trace_seconds


class PlayedGroup:
    """A rank among others that are always there; writes down what it is asked."""

    def __init__(self, rank: int, n_ranks: int) -> None:
        self.rank, self.n_ranks = rank, n_ranks
        self.asked: list[str] = []

    def told(self, value: float) -> float:
        """Return the value, as rank 0 would."""
        self.asked.append("told")
        return value

    def meet(self) -> None:
        """Remember it."""
        self.asked.append("meet")


def walked(*, rank: int = 0, n_ranks: int = 2, n_steps: int = 10, **wanted: object) -> tuple[int, list[str]]:
    """Walk through a trace; return the rank's own steps, and the order of what it did."""
    group = PlayedGroup(rank, n_ranks)
    does: Callable[[], None] = lambda: group.asked.append("step")  # noqa: E731
    walk = Tempo(Settings(**wanted), group, lambda: group.asked.append("wait"))
    return walk.walk(does, n_steps=n_steps), group.asked


def test_without_a_rhythm_steps_follow_each_other():
    """As ever: no word between ranks, no wait for the device."""
    assert walked(n_steps=3) == (3, ["step"] * 3)


def test_pauses_cut_a_trace_into_equal_stretches():
    """Before each pause the device has come to rest, so that it is one."""
    n_own, asked = walked(pauses=2, pause_seconds=0.0, n_steps=6)

    assert n_own == 6
    assert asked == ["step", "step", "wait", "step", "step", "wait", "step", "step"]


def test_a_throttled_rank_sleeps_after_each_burst_on_the_word_of_rank_zero():
    """The last burst may be shorter; every rank asks as often."""
    n_own, asked = walked(duty_ratio=0.9, burst_steps=2, n_steps=3)

    assert n_own == 3
    assert asked == ["step", "step", "wait", "told", "step", "wait", "told"]


@pytest.mark.parametrize("turns", [1, 2, 3, 8])
def test_in_turns_each_step_is_one_rank_s(turns: int) -> None:
    """Ranks meet after each stretch, all of them as often."""
    played = [walked(rank=rank, turns=turns, n_steps=11) for rank in (0, 1)]

    assert sum(n_own for n_own, _ in played) == 11
    assert [asked.count("meet") for _, asked in played] == [turns, turns]
    assert [asked.count("step") for _, asked in played] == [n_own for n_own, _ in played]


def test_with_one_turn_rank_zero_works_alone():
    """The other does not even warm up."""
    working = [Tempo(Settings(turns=1), PlayedGroup(rank, 2), lambda: None).works for rank in (0, 1)]

    assert working == [True, False]
    assert walked(rank=1, turns=1)[0] == 0


def test_a_trace_has_a_step_for_each_stretch():
    """However slow steps are."""
    slow = Tempo(Settings(turns=8), PlayedGroup(0, 2), lambda: None)

    assert slow.n_steps(1.2, step_seconds=0.5) == 8
    assert slow.n_steps(1.2, step_seconds=0.01) == 120
    assert sum(shares(8, 8)) == 8


def test_rests_are_allowed_for():
    """What a configuration takes is known before it is checked, so that nonsense counts as nothing."""
    strange = WorkloadConfig("a", "b", {"pauses": "many", "duty_ratio": 0.0})

    assert trace_seconds(WorkloadConfig("a", "b", {"duty_ratio": 0.5}), 2.0) == 4.0
    assert trace_seconds(strange, 2.0) == 2.0
    assert tempo.preheat_seconds(WorkloadConfig("a", "b", {"preheat_seconds": 4.0})) == 4.0
