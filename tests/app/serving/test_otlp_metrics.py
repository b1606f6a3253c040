"""Metrics under OpenTelemetry's names: one name each, UCUM units, and no value where nothing is known."""

from types import MappingProxyType

import pytest

from flopwitness.app.serving.otlp_metrics import Value, metrics
from flopwitness.app.serving.snapshot import Bounded, DeviceNow, LedgerNow, RunningWorkload, Snapshot
from flopwitness.core.channels import CANONICAL
from flopwitness.core.workload import Target

NAN = float("nan")
FLOP = MappingProxyType({Target.EXECUTED: Bounded(1.0, 2.0, float("inf"), "fused")})


def device(*, is_lost: bool = False, **gauges: float) -> DeviceNow:
    """Return a GPU as it is now."""
    return DeviceNow("GPU-a", "H200-SXM", "n1", 5, gauges, is_lost=is_lost)


def values(name: str, snapshot: Snapshot) -> list[Value]:
    """Return the values of a metric."""
    (metric,) = (metric for metric in metrics() if metric.name == name)
    return [(value, dict(attributes)) for value, attributes in metric.values(snapshot)]


def test_every_channel_is_a_metric_and_every_name_is_one_metrics():
    """Nobody's values are mixed with another's."""
    names = [metric.name for metric in metrics()]

    assert len(names) == len(set(names)) >= len(CANONICAL)
    assert all(name.startswith(("hw.", "flopwitness.")) for name in names)
    assert all(metric.unit and metric.meaning.endswith(".") for metric in metrics())


@pytest.mark.parametrize(
    ("name", "channel", "unit"),
    [
        ("hw.energy", "energy_joules_total", "J"),
        ("hw.temperature", "temperature_celsius", "Cel"),
        ("hw.gpu.utilization", "gpu_util_ratio", "1"),
        ("hw.gpu.memory.usage", "memory_used_bytes", "By"),
        ("flopwitness.gpu.tensor_active_ratio", "tensor_active_ratio", "1"),
        ("flopwitness.gpu.nvlink_tx_bytes", "nvlink_tx_bytes_total", "By"),
        ("flopwitness.gpu.nvlink_tx_bytes_per_second", "nvlink_tx_bytes_per_second", "By/s"),
    ],
)
def test_a_channel_is_told_in_its_base_unit_with_who_it_is(name: str, channel: str, unit: str):
    """As on ``/metrics``: no value is converted."""
    snapshot = Snapshot(devices=(device(**{channel: 0.25}),))

    assert values(name, snapshot) == [
        (0.25, {"hw.id": "GPU-a", "hw.type": "gpu", "hw.model": "H200-SXM", "host.name": "n1"})
    ]
    assert next(metric.unit for metric in metrics() if metric.name == name) == unit


def test_power_is_the_sensor_that_answered():
    """The mean is asked for seldom where the instant is there."""
    assert (
        values("hw.power", Snapshot(devices=(device(power_watts=80.0, power_instant_watts=NAN),)))[0][0] == 80
    )
    assert values("hw.power", Snapshot(devices=(device(power_watts=NAN),))) == []


def test_what_is_not_known_and_who_is_lost_has_no_value():
    """Neither 0 nor the last one; only its status goes on."""
    unknown = Snapshot(devices=(device(tensor_active_ratio=NAN),))
    lost = Snapshot(devices=(device(is_lost=True, tensor_active_ratio=0.5),))

    for snapshot in (unknown, lost, Snapshot()):
        assert values("flopwitness.gpu.tensor_active_ratio", snapshot) == []
    assert [(value, one["hw.state"]) for value, one in values("hw.status", lost)] == [
        (0, "ok"),
        (1, "failed"),
    ]


def test_flop_have_their_bounds():
    """Three values a target, for all that finished and for what runs."""
    snapshot = Snapshot(totals=FLOP, running=(RunningWorkload(("GPU-a",), 0, 1, FLOP),))

    assert [(value, one["bound"]) for value, one in values("flopwitness.flop", snapshot)] == [
        (1.0, "low"),
        (2.0, "point"),
        (float("inf"), "high"),
    ]
    assert values("flopwitness.running.flop", snapshot)[0] == (
        1.0,
        {"hw.id": "GPU-a", "target": "executed", "bound": "low"},
    )


def test_counts_are_counters():
    """They only grow."""
    snapshot = Snapshot(n_finished=3, n_samples=50, n_missed=2, ledger=LedgerNow("l", 7, "ab"))
    names = ("workloads.finished", "samples", "missed_ticks", "ledger.entries")

    assert [values(f"flopwitness.{name}", snapshot) for name in names] == [
        [(float(count), {})] for count in (3, 50, 2, 7)
    ]
    assert all(metric.is_counter for metric in metrics() if metric.name.removeprefix("flopwitness.") in names)
