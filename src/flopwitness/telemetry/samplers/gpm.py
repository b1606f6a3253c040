"""GPM, NVML's own profiling on Hopper and newer: the mean of each activity between two samples."""

import ctypes
import struct
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import le
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.samplers.nvml_api import SUCCESS, Nvml, called
from flopwitness.telemetry.samplers.nvml_signals import METRICS, Signal, Tier
from flopwitness.telemetry.samplers.sampled import RATIO_SLACK

FILLING = b"\xff"
"""Stands for metrics that were not asked for: as a code it is -1, which no answer has."""


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
        metric = type(self._request.metrics)._type_
        code, value, size = metric.nvmlReturn.offset, metric.value.offset, ctypes.sizeof(metric)
        self._layout = np.dtype(
            {
                "names": ["nvmlReturn", "value"],
                "formats": [np.int32, np.float64],
                "offsets": [code, value],
                "itemsize": size,
            }
        )
        self._format = f"{code}xi{value - code - 4}xd{size - value - 8}x"
        self._address = ctypes.addressof(self._request) + type(self._request).metrics.offset
        self.ask_for(signals)

    def ask_for(self, signals: tuple[Signal, ...]) -> None:
        """Ask for these from now on."""
        self.signals = tuple(sorted(signals, key=lambda signal: signal.tier))
        each = [signal for signal in self.signals if signal.tier is Tier.EACH]
        self._n_each = len(each)
        self._names = [signal.channel for signal in each]
        self._most = [_largest(signal) for signal in each]
        self._each = struct.Struct("=" + self._format * len(each))
        for place, signal in enumerate(self.signals):
            self._request.metrics[place].metricId = signal.number

    def codes(self, handle: Any) -> dict[str, int]:
        """Return the code with which each channel answers, without its value; needs a baseline."""
        code = self._means(handle, len(self.signals))
        answers = np.frombuffer(self._answers(len(self.signals)), dtype=self._layout)["nvmlReturn"].tolist()
        return {signal.channel: code or answer for signal, answer in zip(self.signals, answers, strict=True)}

    def start(self, handle: Any) -> int:
        """Take a sample to measure from; return its code."""
        code, _ = called(self._nvml, "nvmlGpmSampleGet", handle, self._older)
        self._has_baseline = code == SUCCESS
        return code

    def forget(self) -> None:
        """Drop the baseline: the next answer is NaN, and the one after it starts there."""
        self._has_baseline = False

    def read(self, handle: Any, *, costly: bool) -> bytes:
        """Return the means since the last sample as NVML wrote them; ``decoded`` makes numbers of them.

        Parameters
        ----------
        handle : object
            The GPU.
        costly : bool
            Whether to ask for the costly signals too, which come last.

        Returns
        -------
        bytes
            Empty where there was no earlier sample, or none now.

        Raises
        ------
        GpuLostError
            When the GPU is gone.
        """
        if not self._has_baseline:
            self.start(handle)
            return b""
        n_asked = len(self.signals) if costly else self._n_each
        return b"" if self._means(handle, n_asked) != SUCCESS else self._answers(n_asked)

    def glance(self, answers: bytes) -> Mapping[str, float]:
        """Return the values of each round by channel, not in base units; empty where one of them is blank.

        A glance costs a tenth of ``decoded``: one reading alone is not worth NumPy's start.
        """
        if not answers:
            return {}
        found = self._each.unpack_from(answers)
        codes, values = found[::2], found[1::2]
        return (
            {}
            if any(codes) or not all(map(le, values, self._most))
            else dict(zip(self._names, values, strict=True))
        )

    def decoded(self, answers: Sequence[bytes]) -> NDArray[np.float64]:
        """Return what ``read`` gave as numbers in base units, shape (n_answers, n_signals).

        NaN where a metric failed, or was not asked for.
        """
        size = self._layout.itemsize * len(self.signals)
        whole = b"".join(answer.ljust(size, FILLING) for answer in answers)
        metrics = np.frombuffer(whole, dtype=self._layout).reshape(len(answers), len(self.signals))
        factors = np.array([signal.factor for signal in self.signals])
        return np.where(metrics["nvmlReturn"] == SUCCESS, metrics["value"] * factors, np.nan)

    def close(self) -> None:
        """Free the sample buffers; may be called twice."""
        if self._request is not None:
            self._request = None
            for buffer in (self._older, self._newer):
                with suppress(self._nvml.NVMLError):  # a lost GPU takes its buffers along
                    self._library.nvmlGpmSampleFree(buffer)

    def _answers(self, n_asked: int) -> bytes:
        return ctypes.string_at(self._address, n_asked * self._layout.itemsize)

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


def _largest(signal: Signal) -> float:
    """Return the most that a metric can read, in its own unit."""
    return (1 + RATIO_SLACK) / signal.factor if signal.channel.endswith("_ratio") else sys.float_info.max


def gpm_supported(nvml: Nvml, handle: Any) -> bool:
    """Say whether a GPU offers GPM: Hopper and newer, with a binding that knows it."""
    code, support = called(nvml, "nvmlGpmQueryDeviceSupport", handle)
    return code == SUCCESS and bool(support.isSupportedDevice)
