"""Power of several devices at one instant."""

import numpy as np

from flopwitness.telemetry.readers.rules.sums import conservation_findings, summed_watts
from plain_traces import START_NS, plain_trace


def test_devices_are_added_as_they_were_seen_nearest():
    """Their samples lie milliseconds apart."""
    first = plain_trace([0, 1, 2], power_watts=[100, 200, 300])
    second = plain_trace([0.1, 1.1, 2.1], uuid="GPU-b", power_watts=50)

    watts = summed_watts([first, second], START_NS + np.array([-1, 0, 1, 2]) * 10**9)

    assert str(watts.tolist()) == "[nan, 150.0, 250.0, 350.0]"


def test_gpus_that_draw_more_than_their_node_are_a_finding():
    """Some percent are the sensors'."""
    gpu = plain_trace(range(5), power_watts=[700, 700, 900, 700, 700])
    node = plain_trace(range(5), uuid="node", node_power_watts=[800, 690, 800, 800, 800])

    found = list(conservation_findings([gpu], node))

    assert [each.code for each in found] == ["not-conserved"]
    assert "900 W of 800 W" in found[0].message
