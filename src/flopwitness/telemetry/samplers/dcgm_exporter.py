"""DCGM through its exporter: one HTTP scrape a round."""

import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from math import isnan

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.telemetry.samplers.clock import SteadyClock
from flopwitness.telemetry.samplers.dcgm_fields import BY_NAME
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError, device_of, number, one_sample

SOURCE = "dcgm-exporter"
SAMPLE = re.compile(r"^(\w+)\{(.*)\}\s+(\S+)(?:\s+\d+)?\s*$")
LABEL = re.compile(r'(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"')
MOST_BYTES = 16 * 1024 * 1024
"""A scrape of a large node has some 100 KiB; more than this is no exporter."""


class ExporterSampler:
    """Scrape a dcgm-exporter.

    Parameters
    ----------
    url : str
        Such as ``http://localhost:9400/metrics``.
    patience_seconds : float
        How long a scrape may take, > 0.

    Attributes
    ----------
    source, driver : str
        Its name; empty, since an exporter does not say.
    devices : tuple of Device
        What the first scrape showed.
    lost : mapping of str to str
        Devices that the last scrape did not show, with the reason, by UUID.

    Notes
    -----
    A scrape carries no time: its samples are stamped when it came. The exporter collects at its own pace
    (30 s by default), so a faster round repeats values. A MIG slice repeats the whole board's values: the
    first line of a UUID counts, unless that was blank; activities of a slice are left out.

    Raises
    ------
    SourceUnavailableError
        When nothing answers at the address, or what answers shows no GPU.
    """

    def __init__(self, url: str, *, patience_seconds: float = 2.0) -> None:
        self.source = SOURCE
        self.driver = ""
        self._url = url
        self._patience_seconds = patience_seconds
        self._clock = SteadyClock()
        self._last_ns = 0
        self.lost: Mapping[str, str] = {}
        if not url.startswith(("http://", "https://")):
            raise SourceUnavailableError(SOURCE, f"{url} is no http address")
        try:
            found = parsed(self._scraped())
        except (OSError, http.client.HTTPException) as error:
            remedy = "start dcgm-exporter, or give its address"
            raise SourceUnavailableError(SOURCE, f"{url}: {_said(error)}", remedy=remedy) from None
        if not found:
            raise SourceUnavailableError(SOURCE, f"{url} shows no GPU")
        self.devices = tuple(found)

    def sample(self) -> tuple[Trace, ...]:
        """Return one sample of each GPU that the scrape shows."""
        try:
            found = parsed(self._scraped())
        except (OSError, http.client.HTTPException) as error:
            self.lost = {device.uuid: _said(error) for device in self.devices}
            return ()
        now_ns = self._last_ns = max(self._clock(), self._last_ns + 1)
        seen = {device.uuid for device in found}
        self.lost = {d.uuid: "not in the scrape" for d in self.devices if d.uuid not in seen}
        return tuple(one_sample(device, now_ns, values) for device, values in found.items())

    def close(self) -> None:
        """Do nothing: no connection is kept; may be called twice."""

    def _scraped(self) -> str:
        with urllib.request.urlopen(self._url, timeout=self._patience_seconds) as answer:  # noqa: S310
            text: bytes = answer.read(MOST_BYTES)
        return text.decode(errors="replace")


def parsed(text: str) -> dict[Device, dict[str, float]]:
    """Return the values of each device in an exposition; a line that cannot be read costs itself.

    Examples
    --------
    >>> found = parsed('DCGM_FI_PROF_TENSOR_UTIL_RATIO{UUID="GPU-a",modelName="NVIDIA H200"} 0.55')
    >>> [(device.uuid, device.chip, values) for device, values in found.items()]
    [('GPU-a', 'H200-SXM', {'tensor_active_ratio': 0.55})]
    """
    devices: dict[str, Device] = {}
    values: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        found = SAMPLE.match(line)
        field = BY_NAME.get(found.group(1).removesuffix("_total")) if found else None
        if found is None or field is None:
            continue
        labels = {name.casefold(): value for name, value in LABEL.findall(found.group(2))}
        uuid = labels.get("uuid", "")
        if not uuid or _is_no_device_value(field.channel, labels):
            continue
        devices.setdefault(uuid, _device(uuid, labels))
        column = values.setdefault(uuid, {})
        value = number(found.group(3)) * field.factor
        if isnan(column.get(field.channel, float("nan"))):
            column[field.channel] = value
    return {devices[uuid]: column for uuid, column in values.items()}


def _is_no_device_value(channel: str, labels: Mapping[str, str]) -> bool:
    """Say whether a line speaks of a slice only: its activity is a share of the slice, not of the device."""
    of_slice = bool(labels.get("gpu_i_id"))
    return of_slice and channel.endswith(("_ratio", "_per_second"))


def _device(uuid: str, labels: Mapping[str, str]) -> Device:
    return device_of(uuid, labels.get("modelname", ""), host=labels.get("hostname", ""))


def _said(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return " ".join(str(reason).split()) or type(error).__name__
