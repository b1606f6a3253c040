"""The best live source on NVIDIA: NVML, with GPM's activities on Hopper and newer."""

import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.telemetry.samplers.clock import SteadyClock
from flopwitness.telemetry.samplers.locks import GpuLocks, lock_folder
from flopwitness.telemetry.samplers.nvml_api import GpuLostError, Nvml, code_of, text_of
from flopwitness.telemetry.samplers.nvml_gpu import NvmlGpu
from flopwitness.telemetry.samplers.nvml_rows import Reading
from flopwitness.telemetry.samplers.nvml_signals import Cadence
from flopwitness.telemetry.samplers.paced import PacedReader
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError, device_of
from flopwitness.telemetry.samplers.workers import Workers

PROBE_SECONDS = 0.1
"""Time between the two GPM samples with which metrics are tried."""

DEFAULT_CADENCE = Cadence()
DRIVER_REMEDY = "check with nvidia-smi that the NVIDIA driver is loaded and /dev/nvidia* can be opened"


class NvmlSampler:
    """Sample every GPU of this machine, all at once.

    Parameters
    ----------
    nvml : Nvml
        The module ``pynvml``, or what stands in for it.
    cadence : Cadence
        How often slow and costly signals are read, and how long a round waits.
    host : str or None
        Name of this machine; asked of it where not given.
    clock_ns : callable or None
        UTC nanoseconds, never going back; a ``SteadyClock`` where not given.
    folder : Path or None
        Where the locks lie; the machine's own place where not given.

    Attributes
    ----------
    source, driver : str
        ``"nvml+gpm"`` or ``"nvml"``; version of the driver.
    devices : tuple of Device
        What was found.
    channels : mapping of str to tuple of str
        What each device gives, by UUID.
    refused : mapping of str to mapping
        What each device does not give, by UUID and channel, with the reason.
    lost : mapping of str to str
        Devices that did not answer the last round, with the reason; by UUID, or ``"nvml:<index>"``
        where the UUID was never heard.

    Raises
    ------
    SourceUnavailableError
        When there is no driver or no GPU.
    GpuHeldError
        When another sampler holds a GPU.
    """

    def __init__(
        self,
        nvml: Nvml,
        *,
        cadence: Cadence = DEFAULT_CADENCE,
        host: str | None = None,
        clock_ns: Callable[[], int] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._nvml = nvml
        self._patience_seconds = cadence.patience_seconds
        self._closers: list[Callable[[], object]] = []
        self._never_seen: dict[str, str] = {}
        _initialised(nvml)
        self._closers.append(self._shut_down)
        try:
            self.driver = text_of(nvml.nvmlSystemGetDriverVersion())
            self.devices = self._found(socket.gethostname() if host is None else host)
            locks = GpuLocks((device.uuid for device in self.devices), folder or lock_folder())
            self._closers.append(locks.close)
            clock = clock_ns or SteadyClock()
            gpus = [NvmlGpu(nvml, device, clock_ns=clock, cadence=cadence) for device in self.devices]
            self._closers.extend(gpu.close for gpu in gpus)
            self.lost: Mapping[str, str] = self._never_seen | _probed(gpus)
        except BaseException:
            self._let_go()
            raise
        self._gpus = {gpu.device.uuid: gpu for gpu in gpus}
        self.source = "nvml+gpm" if any(gpu.has_gpm for gpu in gpus) else "nvml"
        self.channels = {gpu.device.uuid: gpu.channels for gpu in gpus}
        self.refused = {gpu.device.uuid: gpu.refused for gpu in gpus}
        self._workers = Workers({gpu.device.uuid: gpu.read for gpu in gpus})
        self._reader: PacedReader[Reading | str] | None = None

    def sample(self) -> tuple[Trace, ...]:
        """Return one sample of each GPU that answered in time; ``lost`` names the others."""
        answers = self._workers.ask(self._patience_seconds)
        lost = dict(self._never_seen)
        traces = []
        for device in self.devices:
            answer = answers.get(device.uuid, self._late)
            if isinstance(answer, Trace):
                traces.append(answer)
            else:
                lost[device.uuid] = answer
        self.lost = lost
        return tuple(traces)

    @property
    def n_missed(self) -> int:
        """Rounds that were skipped since ``pace``, because one before took too long."""
        return 0 if self._reader is None else self._reader.n_missed

    def pace(self, interval_seconds: float) -> None:
        """Sample every so often from now on, at even instants, until closed; ``sample`` is not asked again.

        One round after the other is read by one thread, and made into Traces when they are fetched: far
        cheaper than a round that is asked for.
        """
        self._workers.close()
        self._reader = PacedReader(
            {uuid: gpu.take for uuid, gpu in self._gpus.items()},
            interval_seconds=interval_seconds,
            patience_seconds=self._patience_seconds,
        )

    def fetch(self) -> tuple[Trace, ...]:
        """Return the samples since the last call, one Trace a GPU; ``lost`` names those without an answer."""
        if self._reader is None:
            return ()
        answers, hung = self._reader.fetch(), self._reader.hung
        lost = dict(self._never_seen)
        traces = []
        for uuid, gpu in self._gpus.items():
            readings = [answer for answer in answers[uuid] if isinstance(answer, Reading)]
            if readings and len(trace := gpu.trace(readings)):
                traces.append(trace)
            if answers[uuid] and isinstance(last := answers[uuid][-1], str):
                lost[uuid] = last
            elif uuid in hung:
                lost[uuid] = self._late
        self.lost = lost
        return tuple(traces)

    def close(self) -> None:
        """Stop the threads, free the library and let the locks go; may be called twice."""
        if self._workers.close() and (self._reader is None or self._reader.close()):
            self._let_go()

    @property
    def _late(self) -> str:
        return f"no answer within {self._patience_seconds:g} s"

    def _shut_down(self) -> None:
        with suppress(self._nvml.NVMLError):  # the driver may be gone by now
            self._nvml.nvmlShutdown()

    def _let_go(self) -> None:
        while self._closers:
            self._closers.pop()()

    def _found(self, host: str) -> tuple[Device, ...]:
        devices = []
        for index in range(self._nvml.nvmlDeviceGetCount()):
            try:
                handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
                uuid = text_of(self._nvml.nvmlDeviceGetUUID(handle))
                name = text_of(self._nvml.nvmlDeviceGetName(handle))
            except self._nvml.NVMLError as error:
                self._never_seen[f"nvml:{index}"] = str(error)
            else:
                devices.append(device_of(uuid, name, host=host))
        if not devices:
            reasons = "; ".join(f"{name} {why}" for name, why in self._never_seen.items())
            raise SourceUnavailableError("nvml", reasons or "the driver shows no GPU", remedy=DRIVER_REMEDY)
        return tuple(devices)


def _initialised(nvml: Nvml) -> None:
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        reason = f"NVML cannot start: {error} (code {code_of(error)})"
        raise SourceUnavailableError("nvml", reason, remedy=DRIVER_REMEDY) from None


def _probed(gpus: list[NvmlGpu]) -> dict[str, str]:
    """Find out what each GPU answers; return those that are lost already, with the reason."""
    lost: dict[str, str] = {}
    for step in (NvmlGpu.start, NvmlGpu.probe):
        for gpu in gpus:
            if gpu.device.uuid in lost:
                continue
            try:
                step(gpu)
            except GpuLostError as error:
                lost[gpu.device.uuid] = str(error)
        if step is NvmlGpu.start and any(gpu.has_gpm for gpu in gpus):
            time.sleep(PROBE_SECONDS)
    return lost
