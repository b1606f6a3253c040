"""Payloads: base units, Unix seconds, null where nobody knows or there is no end."""

from math import inf, nan
from types import MappingProxyType

from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.payload import snapshot_object
from flopwitness.app.serving.snapshot import Bounded, DeviceNow, FinishedWorkload, Snapshot
from flopwitness.core.workload import Target


def test_unknown_and_endless_figures_are_null():
    """NaN of a gauge or an energy, an infinite bound."""
    book = LiveBook()
    flop = MappingProxyType({Target.EXECUTED: Bounded(0.0, 1e15, inf, "linear-power")})
    device = DeviceNow("GPU-a", "strange chip", "", 10**18, MappingProxyType({"power_watts": nan}))
    line = FinishedWorkload("s", "", ("GPU-a",), 10**18, 2 * 10**18, flop)
    book.snapshot = Snapshot(10**18, (device,), (), (line,), 1, flop)

    found = snapshot_object(book)

    assert found["devices"][0]["gauges"] == {"power_watts": None}
    assert found["devices"][0]["tops"] == {}
    assert found["totals"]["executed"] == {"low": 0.0, "point": 1e15, "high": None, "method": "linear-power"}
    assert found["finished"][0]["energy_joules"] is None
    assert found["at"] == 1e9
