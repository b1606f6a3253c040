"""Chooses the best live source of this machine: each is tried, the first that opens is taken."""

import os
import socket
from collections.abc import Callable, Mapping
from typing import Protocol

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.telemetry.samplers.dcgm_dmon import dmon_sampler
from flopwitness.telemetry.samplers.dcgm_exporter import ExporterSampler
from flopwitness.telemetry.samplers.jetson import jetson_sampler
from flopwitness.telemetry.samplers.nvidia_smi import smi_sampler
from flopwitness.telemetry.samplers.nvml import NvmlSampler
from flopwitness.telemetry.samplers.nvml_api import load_nvml
from flopwitness.telemetry.samplers.nvml_signals import Cadence
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError

EXPORTER_VARIABLE = "FLOPWITNESS_EXPORTER_URL"
EXPORTER_URL = "http://localhost:9400/metrics"
"""Where dcgm-exporter listens by default."""

DEFAULT_CADENCE = Cadence()


class LiveSampler(Protocol):
    """What every sampler of ours offers beyond the port."""

    source: str
    driver: str
    devices: tuple[Device, ...]
    lost: Mapping[str, str]

    def sample(self) -> tuple[Trace, ...]:
        """Return one sample of each device that answered."""
        ...

    def close(self) -> None:
        """Let go of the hardware; may be called twice."""
        ...


Openers = Mapping[str, Callable[[], LiveSampler]]


def openers(
    *,
    interval_seconds: float = 0.1,
    cadence: Cadence = DEFAULT_CADENCE,
    exporter_url: str | None = None,
) -> Openers:
    """Return what opens each source, the best first.

    Parameters
    ----------
    interval_seconds : float
        How often samples are wanted, > 0; programs that set the pace are asked for it.
    cadence : Cadence
        How often NVML's slow and costly signals are read.
    exporter_url : str or None
        Address of a dcgm-exporter; from ``FLOPWITNESS_EXPORTER_URL``, or its usual place, where not given.
    """
    host = socket.gethostname()
    interval_ms = max(1, round(interval_seconds * 1000))
    url = exporter_url or os.environ.get(EXPORTER_VARIABLE, EXPORTER_URL)
    return {
        "nvml": lambda: NvmlSampler(load_nvml(), cadence=cadence, host=host),
        "dcgm-exporter": lambda: ExporterSampler(url),
        "dcgmi": lambda: dmon_sampler(host=host, interval_ms=interval_ms),
        "nvidia-smi": lambda: smi_sampler(host=host, interval_ms=interval_ms),
        "jetson": lambda: jetson_sampler(host=host, interval_ms=interval_ms),
    }


def best_sampler(
    *,
    interval_seconds: float = 0.1,
    cadence: Cadence = DEFAULT_CADENCE,
    exporter_url: str | None = None,
) -> LiveSampler:
    """Open the best source of this machine; parameters as in ``openers``.

    Raises
    ------
    SourceUnavailableError
        When no source opens; every reason is told.
    GpuHeldError
        When another sampler of ours holds a GPU: a worse source is not taken instead.
    """
    return first_open(openers(interval_seconds=interval_seconds, cadence=cadence, exporter_url=exporter_url))


def first_open(sources: Openers) -> LiveSampler:
    """Open the first source that can be opened.

    Raises
    ------
    SourceUnavailableError
        When none can; every reason is told.
    """
    reasons = []
    for open_source in sources.values():
        try:
            return open_source()
        except SourceUnavailableError as error:
            reasons.append(f"{error.source}: {error.reason}")
    raise SourceUnavailableError(
        "no source of GPU telemetry", "; ".join(reasons), remedy="'flopwitness doctor' says what to do"
    )
