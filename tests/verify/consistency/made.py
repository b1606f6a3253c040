"""Made recordings whose signals agree as real ones do: power follows activity, counters follow power."""

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace

START_NS = 1_800_000_000_000_000_000
PERIOD_NS = 100_000_000
N_SAMPLES = 900
UUIDS = ("GPU-a", "GPU-b")

Columns = dict[str, NDArray[np.float64]]


def loads(rng: np.random.Generator, n_samples: int) -> NDArray[np.float64]:
    """Return ten idle seconds, then runs of 2 to 6 s, each of its own load, with pauses of 1 to 3 s."""
    load = np.zeros(n_samples)
    at = 100
    while at < n_samples:
        length = int(rng.integers(20, 60))
        load[at : at + length] = rng.uniform(0.5, 0.9)
        at += length + int(rng.integers(10, 30))
    return load


def columns(load: NDArray[np.float64], rng: np.random.Generator) -> Columns:
    """Return channels of one device under a load, noise included; energy and links are counted exactly."""
    n_samples = len(load)
    works = load > 0

    def noisy(values: NDArray[np.float64], spread: float = 0.01) -> NDArray[np.float64]:
        return values * (1 + spread * rng.standard_normal(n_samples))

    sm = np.where(works, noisy(0.6 + 0.4 * load), 0.0).clip(0, 1)
    mix = np.repeat(rng.uniform(0.7, 1.3, n_samples // 30 + 1), 30)[:n_samples]
    tensor = np.where(works, noisy(0.7 * load), 0.0)
    dram = np.where(works, noisy(0.4 * load * mix), 3e-6 * (1 + rng.random(n_samples)))
    starts = np.flatnonzero(works & ~np.concatenate([[False], works[:-1]]))
    run_clock = 15e6 * rng.integers(100, 131, len(starts) + 1)
    clock = np.where(works, run_clock[np.cumsum(np.isin(np.arange(n_samples), starts))], 1.98e9)
    speed = clock / 1.98e9
    watts = noisy(90 + 60 * (speed - 0.9) + (250 * tensor + 200 * dram + 250 * sm) * speed, 0.003)
    return {
        "power_watts": noisy(watts, 0.001),
        "power_instant_watts": watts,
        "energy_joules_total": 1e5 + np.cumsum(watts * PERIOD_NS / 1e9),
        "sm_active_ratio": sm,
        "sm_occupancy_ratio": 0.4 * sm,
        "tensor_active_ratio": tensor,
        "hmma_active_ratio": tensor,
        "fp32_active_ratio": np.where(works, noisy(0.05 * load), 0.0),
        "int_active_ratio": np.where(works, noisy(0.15 * load), 0.0),
        "dram_active_ratio": dram,
        "sm_clock_hertz": clock,
        **steady_columns(load),
        **link_columns(np.where(works, noisy(2e10 * load), 0.0)),
    }


def steady_columns(load: NDArray[np.float64]) -> Columns:
    """Return channels without noise that matters."""
    works = load > 0
    flicker = np.abs(np.sin(np.arange(len(load))))
    return {
        "gpu_util_ratio": works.astype(float),
        "gr_engine_active_ratio": np.where(works, 1.0 - 1e-4 * flicker, 0.0),
        "imma_active_ratio": np.zeros(len(load)),
        "dfma_active_ratio": np.zeros(len(load)),
        "throttle_reasons_mask": np.where(works, 4.0, 0.0),
        "temperature_celsius": np.round(40 + 20 * load),
        "mem_temperature_celsius": np.round(42 + 15 * load),
        "memory_used_bytes": np.full(len(load), 4e10),
    }


def link_columns(rate: NDArray[np.float64]) -> Columns:
    """Return NVLink rates and the bytes that they add up to."""
    counted = np.cumsum(rate * PERIOD_NS / 1e9)
    ways = ("tx", "rx")
    return {f"nvlink_{way}_bytes_per_second": rate for way in ways} | {
        f"nvlink_{way}_bytes_total": counted for way in ways
    }


def clean_recording(*, seed: int = 0, together: bool = True, n_samples: int = N_SAMPLES) -> Recording:
    """Return 90 s of two devices at 10 Hz that work together, or each on its own."""
    rng = np.random.default_rng(seed)
    shared = loads(rng, n_samples)
    traces = []
    for number, uuid in enumerate(UUIDS):
        load = shared if together else loads(rng, n_samples)
        time_ns = START_NS + number * 2_000_000 + PERIOD_NS * np.arange(n_samples)
        made = columns(load, rng)
        made["memory_used_bytes"] = np.full(n_samples, (4 + number) * 1e10)
        made["energy_joules_total"] = made["energy_joules_total"] + 5e5 * number
        traces.append(Trace(Device(uuid, chip="H200-SXM"), time_ns, made))
    return Recording("made", tuple(traces), Provenance("made"))


def clean_trace(*, seed: int = 0) -> Trace:
    """Return one device of such a recording."""
    return clean_recording(seed=seed).traces[0]


def changed(trace: Trace, **columns_by_name: NDArray[np.float64]) -> Trace:
    """Return a trace with channels replaced."""
    return Trace(trace.device, trace.time_ns, {**trace.channels, **columns_by_name})


def without(trace: Trace, *names: str) -> Trace:
    """Return a trace without some channels."""
    return Trace(trace.device, trace.time_ns, {k: v for k, v in trace.channels.items() if k not in names})


def highest_score(deviations: object, code: str) -> float:
    """Return the highest score among deviations of a code; 0 without one."""
    return max([each.score for each in deviations if each.code == code], default=0.0)  # type: ignore[attr-defined]
