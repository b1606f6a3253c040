"""What every live source must do: subclass, say how to set up the source, inherit the tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from flopwitness.core.ports import Sampler
from flopwitness.core.trace import Trace

MOST_ROUNDS = 200
"""More rounds than any source needs until a change shows."""

Answer = dict[str, Trace]


class Rig(Protocol):
    """A source under the test's control, and a sampler of it."""

    sampler: Sampler
    power_channel: str

    @property
    def uuids(self) -> tuple[str, ...]:
        """UUIDs of the devices that the source has."""

    def show(self, uuid: str, watts: float | None) -> None:
        """Have a device draw this much from now on; None is a blank."""

    def lose(self, uuid: str) -> None:
        """Take a device away."""

    def stop(self) -> None:
        """End what the rig started itself."""


class SamplerContract:
    """Implement ``make_rig``: every device draws 300 W at an SM clock of 1,755 MHz."""

    def make_rig(self, folder: Path) -> Rig:
        """Set up a source and open a sampler of it."""
        raise NotImplementedError

    @pytest.fixture
    def rig(self, tmp_path: Path):
        """Open a rig for one test."""
        made = self.make_rig(tmp_path)
        yield made
        made.sampler.close()
        made.stop()

    def test_it_is_a_sampler(self, rig: Rig):
        """Whatever asks hardware fits the port."""
        assert isinstance(rig.sampler, Sampler)

    def test_each_device_gives_one_sample(self, rig: Rig):
        """A round is one Trace of one sample a device, known by UUID."""
        found = until(rig, lambda answer: set(answer) == set(rig.uuids))

        assert [len(trace) for trace in found.values()] == [1] * len(rig.uuids)

    def test_units_are_base_units(self, rig: Rig):
        """Watts and hertz come out, whatever the source writes."""
        found = until(rig, lambda answer: set(answer) == set(rig.uuids))

        for trace in found.values():
            assert trace[rig.power_channel].tolist() == pytest.approx([300.0])
            assert trace["sm_clock_hertz"].tolist() == pytest.approx([1.755e9])

    def test_time_increases_from_round_to_round(self, rig: Rig):
        """Two samples of a device are never of one instant."""
        rounds = [until(rig, lambda answer: set(answer) == set(rig.uuids)) for _ in range(3)]

        for uuid in rig.uuids:
            stamps = [int(answer[uuid].time_ns[0]) for answer in rounds]
            assert stamps == sorted(set(stamps))

    def test_a_new_value_is_seen(self, rig: Rig):
        """An answer is of now, not of the first round."""
        rig.show(rig.uuids[0], 640.25)

        found = until(rig, lambda answer: power(rig, answer) == pytest.approx(640.25))

        assert set(found) <= set(rig.uuids)

    def test_a_blank_is_nan_and_costs_no_other_channel(self, rig: Rig):
        """No answer is not zero."""
        rig.show(rig.uuids[0], None)

        found = until(rig, lambda answer: rig.uuids[0] in answer and np.isnan(power(rig, answer)))

        assert found[rig.uuids[0]]["sm_clock_hertz"].tolist() == pytest.approx([1.755e9])

    def test_a_lost_device_is_absent_and_the_others_stay(self, rig: Rig):
        """A dead device is not a zero, and hides nobody."""
        rig.lose(rig.uuids[0])

        others = set(rig.uuids[1:])
        found = until(rig, lambda answer: set(answer) == others)

        assert set(found) == others

    def test_it_closes_twice(self, rig: Rig):
        """Letting go of what is gone is no error."""
        rig.sampler.close()
        rig.sampler.close()


def power(rig: Rig, answer: Answer) -> float:
    """Return the power of the rig's first device, NaN where it did not answer."""
    trace = answer.get(rig.uuids[0])
    return float("nan") if trace is None else float(trace.column(rig.power_channel)[0])


def until(rig: Rig, wanted: Callable[[Answer], bool]) -> Answer:
    """Ask until an answer is as wanted; programs and servers need a moment to show a change."""
    for _ in range(MOST_ROUNDS):
        answer = {trace.device.uuid: trace for trace in rig.sampler.sample()}
        if wanted(answer):
            return answer
    raise AssertionError(f"not seen within {MOST_ROUNDS} rounds")
