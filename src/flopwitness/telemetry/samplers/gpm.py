"""GPM, NVML's own profiling on Hopper and newer: the mean of each activity between two samples."""

import math
from contextlib import suppress
from typing import Any, cast

from flopwitness.telemetry.samplers.nvml_api import SUCCESS, Nvml, called, checked
from flopwitness.telemetry.samplers.nvml_signals import METRICS, Signal, Tier

NAN = float("nan")


class GpmMeter:
    """The activity of one GPU since its last sample.

    Parameters
    ----------
    nvml : Nvml
        The library.
    signals : tuple of Signal
        What to ask for.

    Attributes
    ----------
    signals : tuple of Signal
        What it asks for, those of each round first.

    Notes
    -----
    Two sample buffers take turns, so each mean starts where the last one ended; a sample that fails leaves
    the older one standing, and the next mean covers both stretches.
    """

    def __init__(self, nvml: Nvml, signals: tuple[Signal, ...] = METRICS) -> None:
        self._nvml = nvml
        self._library = cast("Any", nvml)
        self._older, self._newer = self._library.nvmlGpmSampleAlloc(), self._library.nvmlGpmSampleAlloc()
        self._has_baseline = False
        self._request: Any = self._library.c_nvmlGpmMetricsGet_t()
        self._request.version = self._library.NVML_GPM_METRICS_GET_VERSION
        self.ask_for(signals)

    def ask_for(self, signals: tuple[Signal, ...]) -> None:
        """Ask for these from now on."""
        self.signals = tuple(sorted(signals, key=lambda signal: signal.tier))
        self._n_each = sum(signal.tier is Tier.EACH for signal in self.signals)
        for place, signal in enumerate(self.signals):
            self._request.metrics[place].metricId = signal.number

    def codes(self, handle: Any) -> dict[str, int]:
        """Return the code with which each channel answers, without its value; needs a baseline."""
        code = self._means(handle, len(self.signals))
        return {
            signal.channel: code or int(self._request.metrics[place].nvmlReturn)
            for place, signal in enumerate(self.signals)
        }

    def start(self, handle: Any) -> int:
        """Take a sample to measure from; return its code."""
        code, _ = called(self._nvml, "nvmlGpmSampleGet", handle, self._older)
        self._has_baseline = code == SUCCESS
        return code

    def forget(self) -> None:
        """Drop the baseline: the next answer is NaN, and the one after it starts there."""
        self._has_baseline = False

    def read(self, handle: Any, values: dict[str, float], *, costly: bool) -> None:
        """Put the means since the last sample into ``values``, in base units; NaN where there is none.

        Raises
        ------
        GpuLostError
            When the GPU is gone.
        """
        if not self._has_baseline:
            self.start(handle)
            return
        n_asked = len(self.signals) if costly else self._n_each
        if self._means(handle, n_asked) != SUCCESS:
            return
        for signal, metric in zip(self.signals[:n_asked], self._request.metrics, strict=False):
            value = metric.value if checked(metric.nvmlReturn) == SUCCESS else NAN
            values[signal.channel] = value * signal.factor if math.isfinite(value) else NAN

    def close(self) -> None:
        """Free the sample buffers; may be called twice."""
        if self._request is not None:
            self._request = None
            for buffer in (self._older, self._newer):
                with suppress(self._nvml.NVMLError):  # a lost GPU takes its buffers along
                    self._library.nvmlGpmSampleFree(buffer)

    def _means(self, handle: Any, n_asked: int) -> int:
        """Take a sample and have the means since the older one computed; the newer becomes the older."""
        code, _ = called(self._nvml, "nvmlGpmSampleGet", handle, self._newer)
        if code != SUCCESS:
            return code
        self._request.numMetrics = n_asked
        self._request.sample1, self._request.sample2 = self._older, self._newer
        self._older, self._newer = self._newer, self._older
        code, _ = called(self._nvml, "nvmlGpmMetricsGet", self._request)
        return code


def gpm_supported(nvml: Nvml, handle: Any) -> bool:
    """Say whether a GPU offers GPM: Hopper and newer, with a binding that knows it."""
    code, support = called(nvml, "nvmlGpmQueryDeviceSupport", handle)
    return code == SUCCESS and bool(support.isSupportedDevice)
