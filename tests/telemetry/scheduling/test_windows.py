"""A job is GPUs and a window; what overlaps by less than a sensor can tell is not in it."""

import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.telemetry.scheduling.windows import JobWindow

SECOND = 10**9


def test_an_open_window_has_no_end():
    """Until somebody says so."""
    assert JobWindow("1", ("GPU-a",), 0).overlap_seconds(5 * SECOND, 8 * SECOND) == 3.0


@pytest.mark.parametrize(
    ("start", "stop", "holds"),
    [(0, 10, True), (9.5, 12, False), (9, 12, True), (10, 12, False), (9.9, 10.05, True), (5, 5, False)],
)
def test_a_stretch_is_inside_for_a_second_or_half_of_itself(start: float, stop: float, holds: bool):
    """A session that ends a moment after the next job began is not that job's."""
    window = JobWindow("1", ("GPU-a",), 0, 10 * SECOND)

    assert window.holds(round(start * SECOND), round(stop * SECOND)) is holds


@pytest.mark.parametrize("bad", [("", ("a",), 0, None), ("1", (), 0, None), ("1", ("a",), 5, 4)])
def test_what_is_no_window_is_refused(bad: tuple[str, tuple[str, ...], int, int | None]):
    """No name, no GPU, or an end before the start."""
    with pytest.raises(InvalidNounError):
        JobWindow(*bad)
