# ruff: noqa: N802, D102  names and meanings are those of NVML
"""A stand-in for ``pynvml`` with the same names: GPUs whose answers a test sets, and may take away."""

import ctypes
import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

NOT_SUPPORTED, INVALID_ARGUMENT, NO_PERMISSION, UNKNOWN, GPU_IS_LOST, DRIVER_NOT_LOADED = 3, 2, 4, 999, 15, 9
UNSIGNED_INT, UNSIGNED_LONG_LONG = 1, 3
CYCLE_METRICS = frozenset(range(248, 261))

FIELDS = {185: 300_000, 186: 310_000, 83: 5_000_000, 138: 2_000, 139: 3_000, 82: 44}
"""Field values in NVML's units: mW, mJ, KiB, degrees."""

METRICS: dict[int, float] = {
    number: float(number) for number in (*range(1, 14), 20, 21, 60, 61, *CYCLE_METRICS)
}
"""GPM values: the number of each metric, in percent, MiB/s or cycles."""


MAX_METRICS = 333


class FakeMetric(ctypes.Structure):
    """``c_nvmlGpmMetric_t``: what is asked, and its answer."""

    _fields_ = (
        ("metricId", ctypes.c_uint),
        ("nvmlReturn", ctypes.c_uint),
        ("value", ctypes.c_double),
        ("words", ctypes.c_char_p * 3),
    )


class FakeMetricsGet(ctypes.Structure):
    """``c_nvmlGpmMetricsGet_t``: a question about two samples, which are objects here."""

    _fields_ = (
        ("version", ctypes.c_uint),
        ("numMetrics", ctypes.c_uint),
        ("first", ctypes.c_void_p),
        ("second", ctypes.c_void_p),
        ("metrics", FakeMetric * MAX_METRICS),
    )


class FakeNvmlError(Exception):
    """Carries the ``nvmlReturn_t``, as ``NVMLError`` does."""

    def __init__(self, value: int) -> None:
        self.value = value
        super().__init__({GPU_IS_LOST: "GPU is lost", DRIVER_NOT_LOADED: "Driver Not Loaded"}.get(value, ""))


@dataclass
class FakeGpu:
    """One GPU: what it answers, with which code, and how slowly."""

    uuid: str
    name: str = "NVIDIA H200"
    fields: dict[int, int] = field(default_factory=lambda: dict(FIELDS))
    metrics: dict[int, float] = field(default_factory=lambda: dict(METRICS))
    codes: dict[int | str, int] = field(default_factory=dict)
    delay_seconds: float = 0.0
    lost: bool = False
    gpm: bool = True
    calls: list[str] = field(default_factory=list)
    n_gpm_samples: int = 0

    def asked(self, what: str) -> None:
        """Take note of a call; fail as the test wants it."""
        self.calls.append(what)
        time.sleep(self.delay_seconds)
        if self.lost:
            raise FakeNvmlError(GPU_IS_LOST)
        if code := self.codes.get(what, 0):
            raise FakeNvmlError(code)


class FakeNvml:
    """What ``NvmlSampler`` takes for the module."""

    NVMLError = FakeNvmlError
    NVML_GPM_METRICS_GET_VERSION = 1

    def __init__(self, *gpus: FakeGpu, loaded: bool = True) -> None:
        self.gpus = gpus
        self.n_open = 0
        self.n_buffers = 0
        self._loaded = loaded

    def nvmlInit(self) -> None:
        if not self._loaded:
            raise FakeNvmlError(DRIVER_NOT_LOADED)
        self.n_open += 1

    def nvmlShutdown(self) -> None:
        self.n_open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return "580.159.04"

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        self.gpus[index].asked("nvmlDeviceGetHandleByIndex")
        return self.gpus[index]

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> FakeGpu:
        (found,) = (gpu for gpu in self.gpus if gpu.uuid == uuid)
        found.asked("nvmlDeviceGetHandleByUUID")
        return found

    def nvmlDeviceGetUUID(self, handle: FakeGpu) -> bytes:
        return handle.uuid.encode()

    def nvmlDeviceGetName(self, handle: FakeGpu) -> str:
        return handle.name

    def nvmlDeviceGetFieldValues(self, handle: FakeGpu, fieldIds: list[tuple[int, int]]) -> list[Any]:
        handle.asked("nvmlDeviceGetFieldValues")
        for number, scope in fieldIds:
            handle.calls.append(f"field {number}")
            assert scope == (0xFFFFFFFF if number in {138, 139} else 0)
        return [_field_value(handle, number) for number, _ in fieldIds]

    def nvmlDeviceGetUtilizationRates(self, handle: FakeGpu) -> Any:
        handle.asked("nvmlDeviceGetUtilizationRates")
        return SimpleNamespace(gpu=97, memory=41)

    def nvmlDeviceGetClockInfo(self, handle: FakeGpu, kind: int) -> int:
        handle.asked("nvmlDeviceGetClockInfo")
        return {1: 1755, 2: 3201}[kind]

    def nvmlDeviceGetPowerUsage(self, handle: FakeGpu) -> int:
        handle.asked("nvmlDeviceGetPowerUsage")
        return 299_000

    def nvmlDeviceGetTemperature(self, handle: FakeGpu, sensor: int) -> int:
        handle.asked("nvmlDeviceGetTemperature")
        return {0: 61}[sensor]

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: FakeGpu) -> int:
        handle.asked("nvmlDeviceGetCurrentClocksThrottleReasons")
        return 4

    def nvmlDeviceGetMemoryInfo(self, handle: FakeGpu) -> Any:
        handle.asked("nvmlDeviceGetMemoryInfo")
        return SimpleNamespace(used=70_000_000)

    def nvmlGpmQueryDeviceSupport(self, handle: FakeGpu) -> Any:
        handle.asked("nvmlGpmQueryDeviceSupport")
        return SimpleNamespace(isSupportedDevice=int(handle.gpm))

    def nvmlGpmSampleAlloc(self) -> Any:
        self.n_buffers += 1
        return SimpleNamespace(gpu=None, number=0)

    def nvmlGpmSampleFree(self, buffer: Any) -> None:
        buffer.gpu = None
        self.n_buffers -= 1

    def nvmlGpmSampleGet(self, handle: FakeGpu, buffer: Any) -> Any:
        handle.asked("nvmlGpmSampleGet")
        handle.n_gpm_samples += 1
        buffer.gpu, buffer.number = handle, handle.n_gpm_samples
        return buffer

    def c_nvmlGpmMetricsGet_t(self) -> Any:
        return FakeMetricsGet()

    def nvmlGpmMetricsGet(self, request: Any) -> Any:
        gpu: FakeGpu = request.sample2.gpu
        gpu.asked("nvmlGpmMetricsGet")
        if request.version != 1 or request.sample1.gpu is not gpu:
            raise FakeNvmlError(INVALID_ARGUMENT)
        if request.sample1.number >= request.sample2.number:  # as the driver does for one sample twice
            raise FakeNvmlError(INVALID_ARGUMENT)
        for metric in request.metrics[: request.numMetrics]:
            gpu.calls.append(f"metric {metric.metricId}")
            metric.nvmlReturn = gpu.codes.get(metric.metricId, 0)
            metric.value = 0.0 if metric.nvmlReturn else gpu.metrics[metric.metricId]
        return request


def _field_value(gpu: FakeGpu, number: int) -> Any:
    """Return a field as NVML fills it: the union read by a wrong member gives nonsense."""
    code = gpu.codes.get(number, 0)
    kind = UNSIGNED_LONG_LONG if number in {83, 138, 139} else UNSIGNED_INT
    value = 0 if code else gpu.fields[number]
    wrong = dict.fromkeys(("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal"), -1)
    right = wrong | {"ullVal" if kind == UNSIGNED_LONG_LONG else "uiVal": value}
    return SimpleNamespace(nvmlReturn=code, valueType=kind, value=SimpleNamespace(**right))
