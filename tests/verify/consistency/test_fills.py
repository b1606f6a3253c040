"""Power that a second load fills up."""

import numpy as np
import pytest

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.fills import fill_finding

RNG = np.random.default_rng(0)
N = 600
SMOOTH = 390.0 + np.linspace(0, 10, N)


def trace_of(watts: object, used: float = 1.0, step: float = 0.3, **more: object) -> Trace:
    """Return three samples a second of an H100."""
    columns = {"power_watts": watts, "gpu_util_ratio": used, **more}
    arrays = {name: np.broadcast_to(np.asarray(value, float), N) for name, value in columns.items()}
    return Trace(Device("GPU-a", chip="H100-SXM"), np.round(np.arange(N) * step * 1e9), arrays)


def test_power_that_stands_below_the_limit_at_full_utilisation_is_told() -> None:
    """380 to 420 W, flat, 98.6 %: a second load fills what training leaves."""
    finding = fill_finding(trace_of(SMOOTH))

    assert finding is not None
    assert finding.code == "flat-power"
    assert "395 W" in finding.message


@pytest.mark.parametrize(
    "trace",
    [
        trace_of(690.0),
        trace_of(75.0, used=0.0),
        trace_of(395.0 + RNG.normal(0, 5, N)),
        trace_of(SMOOTH, used=0.6),
        trace_of(SMOOTH, step=0.05),
        trace_of(SMOOTH, step=15.0),
        trace_of(SMOOTH, tensor_active_ratio=0.4),
    ],
    ids=["at its limit", "idle", "unsteady", "not always busy", "short", "slow sampler", "activity is there"],
)
def test_what_has_another_reason_is_not(trace: Trace) -> None:
    """Limits hold power flat; short stretches are flat by chance; activity is judged by other checks."""
    assert fill_finding(trace) is None
