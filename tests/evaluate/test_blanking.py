"""Recordings with signals taken away."""

import numpy as np
import pytest

from flopwitness.core.device import Device
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.evaluate.blanking import KEPT, as_node, keeping

TIMES = np.arange(5) * 10**9


def recording_of(*watts: float) -> Recording:
    """Return boards of constant power."""
    traces = tuple(
        Trace(
            Device(f"GPU-{number}", chip="H200-SXM"),
            TIMES,
            {"power_watts": [each] * 5, "sm_clock_hertz": [1.5e9] * 5, "gpu_util_ratio": [1.0] * 5},
        )
        for number, each in enumerate(watts)
    )
    return Recording("made", traces, Provenance("test"))


def test_a_case_keeps_its_channels_and_no_other() -> None:
    """All of them where it keeps all."""
    recording = recording_of(600.0)

    assert set(keeping(recording, KEPT["power"]).traces[0].channels) == {"power_watts"}
    assert keeping(recording, KEPT["all"]) is recording


def test_a_node_draws_what_its_boards_do_and_more() -> None:
    """A host, and the losses of a supply."""
    (node,) = as_node(recording_of(600.0, 400.0), 700.0).traces

    assert node.device.chip == "H200-SXM"
    assert node["node_power_watts"].tolist() == pytest.approx([(1000 + 0.35 * 1400 + 100) / 0.94] * 5)
