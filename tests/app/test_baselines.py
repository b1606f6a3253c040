"""The idle power of a board is that of its lowest clock state, also after a restart."""

from pathlib import Path

import numpy as np
import pytest

from contracts.detector import GPU_A, pieces_at
from flopwitness.app.baselines import MAX_SAMPLES, IdleBaselines
from flopwitness.core.errors import BadInputError
from flopwitness.core.trace import Trace
from flopwitness.estimate.features.idle import idle_baseline


def idle_trace(watts: list[float], mhz: list[float], *, tensor: float = 0.0) -> Trace:
    """Return samples of a board that computes nothing."""
    n_samples = len(watts)
    columns = {
        "power_watts": watts,
        "sm_clock_hertz": np.array(mhz) * 1e6,
        "tensor_active_ratio": np.full(n_samples, tensor),
        "dram_active_ratio": np.zeros(n_samples),
    }
    return Trace(GPU_A, np.arange(n_samples) * 10**8, columns)


def test_piece_by_piece_it_is_the_baseline_of_the_whole():
    """Hot samples before and after do not raise it."""
    whole = idle_trace([120, 119, 81, 80, 79, 78, 125], [1980, 1980, 345, 345, 360, 345, 1980])
    running = IdleBaselines()

    for piece in pieces_at(whole, range(len(whole))):
        running.observe(piece)

    assert running.watts(["GPU-a"])["GPU-a"] == idle_baseline(whole).watts == 79.5


def test_a_board_that_was_never_idle_has_none():
    """Unknown is not zero."""
    running = IdleBaselines()
    running.observe(idle_trace([600], [1980], tensor=0.5))

    assert np.isnan(running.watts(["GPU-a"])["GPU-a"])


def test_it_remembers_the_latest_samples_alone():
    """A daemon of months does not grow."""
    running = IdleBaselines()

    running.observe(idle_trace([90.0] * MAX_SAMPLES, [345] * MAX_SAMPLES))
    running.observe(idle_trace([70.0] * MAX_SAMPLES, [345] * MAX_SAMPLES))

    assert running.watts(["GPU-a"]) == {"GPU-a": 70.0}


@pytest.mark.parametrize("mhz", [345.0, float("nan")])
def test_it_comes_back_after_a_restart(tmp_path: Path, mhz: float):
    """Also where the clock is not known."""
    running, again = IdleBaselines(), IdleBaselines()
    running.observe(idle_trace([80.0, 82.0, 90.0], [mhz] * 3))
    running.save(tmp_path / "b.json")

    again.load(tmp_path / "b.json")

    assert again.watts(["GPU-a"]) == {"GPU-a": 82.0}


def test_a_file_of_something_else_is_refused(tmp_path: Path):
    """One line that names the file."""
    (tmp_path / "b.json").write_text(
        '{"format": "flopwitness-idle-baselines", "version": 1, "boards": {"a": 1}}'
    )

    with pytest.raises(BadInputError, match=r"b\.json"):
        IdleBaselines().load(tmp_path / "b.json")
