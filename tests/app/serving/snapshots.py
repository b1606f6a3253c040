"""Snapshots for tests: GPUs, a running workload, finished ones, findings and a ledger."""

from types import MappingProxyType

from flopwitness.app.serving.snapshot import (
    Bounded,
    DeviceNow,
    FinishedWorkload,
    LedgerNow,
    RunningWorkload,
    Snapshot,
)
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.workload import Target

START_NS = 1_770_091_506_000_000_000
"""2026-02-03 04:05:06 UTC."""

GAUGES = {
    "power_watts": 640.25,
    "tensor_active_ratio": 0.44,
    "dram_active_ratio": 0.37,
    "sm_active_ratio": 0.81,
    "sm_clock_hertz": 1.755e9,
    "temperature_celsius": 61.0,
    "memory_used_bytes": 7e10,
    "nvlink_tx_bytes_per_second": 9e8,
    "nvlink_rx_bytes_per_second": 8e8,
    "pcie_tx_bytes_per_second": 1e6,
    "pcie_rx_bytes_per_second": 2e6,
    "energy_joules_total": 5000.12,
    "throttle_reasons_mask": 4.0,
}


def uuid_of(number: int) -> str:
    """Return the UUID of a test's GPU."""
    return f"GPU-{number:08x}-0000-0000-0000-000000000000"


def gpu(number: int = 0, **changed: object) -> DeviceNow:
    """Return a busy GPU as its last samples showed it."""
    fields = {
        "uuid": uuid_of(number),
        "chip": "H200-SXM",
        "host": f"n{number // 8}",
        "time_ns": START_NS + 10**9,
        "gauges": GAUGES,
        "running_since_ns": START_NS,
    }
    return DeviceNow(**(fields | changed))  # type: ignore[arg-type]


def bounded(point_flop: float, method: str = "") -> Bounded:
    """Return FLOP between half and twice a point."""
    return Bounded(point_flop / 2, point_flop, 2 * point_flop, method)


def flop(point_flop: float, method: str = "") -> MappingProxyType[Target, Bounded]:
    """Return FLOP for both targets, four parts executed to three."""
    return MappingProxyType(
        {
            Target.ALGORITHMIC: bounded(point_flop, method),
            Target.EXECUTED: bounded(point_flop * 4 / 3, method),
        }
    )


def finished(number: int, **changed: object) -> FinishedWorkload:
    """Return a finished workload of two GPUs."""
    fields = {
        "session_id": f"session-{number}",
        "name": "workload",
        "uuids": (uuid_of(0), uuid_of(1)),
        "start_ns": START_NS - 10**12,
        "stop_ns": START_NS - 10**11,
        "flop": flop(3e20, "fused"),
        "work_class": "training",
        "energy_joules": 1.5e6,
        "findings": ("unobserved-time",),
        "job_id": f"job-{number}",
    }
    return FinishedWorkload(**(fields | changed))  # type: ignore[arg-type]


def full_snapshot(n_gpus: int = 8, n_finished: int = 3) -> Snapshot:
    """Return a snapshot in which everything is known."""
    gpus = tuple(gpu(number) for number in range(n_gpus))
    uuids = tuple(each.uuid for each in gpus)
    return Snapshot(
        at_ns=START_NS + 10**9,
        devices=gpus,
        running=(RunningWorkload(uuids, START_NS, START_NS + 10**9, flop(6e19, "pipe-sum")),),
        finished=tuple(finished(number) for number in range(n_finished)),
        n_finished=n_finished,
        totals=flop(3e20 * n_finished),
        findings=(
            Finding("unobserved-time", "2 % unobserved", start_ns=START_NS, stop_ns=START_NS + 10**9),
            Finding("frozen", "power stands still", Severity.ALARM, uuids[0], START_NS, START_NS + 10**9),
        ),
        n_samples=n_gpus * 100,
        n_missed=2,
        ledger=LedgerNow("/var/lib/flopwitness/ledger", 12, "ab" * 32),
    )
