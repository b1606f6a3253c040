"""Series to traces: one device a UUID, one column a channel.

A scrape stamps all its samples alike, so the instants of a device are those of any of its series; a channel
without a sample at one of them is NaN there. An instant at which nothing answered is no sample: such a stale
mark only says that a scrape failed.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.core.finding import Finding
from flopwitness.core.trace import Trace
from flopwitness.telemetry.prometheus.grouping import Found, Part, grouped
from flopwitness.telemetry.prometheus.losses import Losses
from flopwitness.telemetry.prometheus.series import Series
from flopwitness.telemetry.prometheus.slices import of_whole_gpu
from flopwitness.telemetry.samplers.sampled import BLANKS, RATIO_SLACK, device_of

SMALLEST_BLANK = min(BLANKS)
BLANK_NUMBERS = np.array(sorted(BLANKS))

ABSOLUTE_ZERO_CELSIUS = -273.15
LARGEST_COUNT = 2.0**64
"""No gauge or counter of a GPU has more than 64 bits."""


def traces_of(
    series: Iterable[Series], *, after_ns: Mapping[str, int] | None = None
) -> tuple[tuple[Trace, ...], tuple[Finding, ...]]:
    """Turn series into one trace a device; parameters and rules are those of ``Pivot``.

    Examples
    --------
    >>> labels = {"__name__": "DCGM_FI_DEV_SM_CLOCK", "UUID": "GPU-a", "pod": "p1"}
    >>> (trace,), findings = traces_of([Series(labels, np.array([0, 10**9]), np.array([345.0, 1755.0]))])
    >>> trace.device.uuid, trace["sm_clock_hertz"].tolist(), findings
    ('GPU-a', [345000000.0, 1755000000.0], ())
    """
    pivot = Pivot(after_ns)
    return pivot.take(series), pivot.findings()


class Pivot:
    """Turns windows of series, which follow each other in time and may overlap, into pieces of traces.

    MIG slices repeat the board's power, energy, clocks and memory: the first series that has an instant
    gives its value, so nothing counts twice. Activity of a slice is a share of the slice: times the slice's
    share of the GPU it adds up to that of the GPU, and it is left out where nobody says how large a slice is.
    Where both DCGM's exporter and ours saw a device, the one with more samples is taken as long as it
    answers, never a mixture.

    Parameters
    ----------
    after_ns : mapping of str to int or None
        Last instants that are known already, by UUID: only later samples are taken.
    devices : iterable of Device
        Devices that are known already; what a later answer calls their chip and host does not change them.
    """

    def __init__(self, after_ns: Mapping[str, int] | None = None, *, devices: Iterable[Device] = ()) -> None:
        self._after_ns = dict(after_ns or {})
        self._devices = {device.uuid: device for device in devices}
        self._family: dict[str, str] = {}
        self._losses = Losses()

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices so far, in the order of their first series."""
        return tuple(self._devices.values())

    def take(self, series: Iterable[Series]) -> tuple[Trace, ...]:
        """Return the samples of each device that are new; one without any is not there."""
        found = grouped(series, self._losses)
        pieces = [self._piece(uuid, said) for uuid, said in found.items()]
        return tuple(piece for piece in pieces if len(piece))

    def findings(self) -> tuple[Finding, ...]:
        """Say what was lost so far: see ``losses.WORDS``."""
        return self._losses.findings()

    def _piece(self, uuid: str, found: Found) -> Trace:
        device = self._device(uuid, found)
        columns = self._of_one_family(uuid, found)
        time_ns, block = _table(columns, self._after_ns.get(uuid, -1), losses=self._losses)
        has_answer = ~np.isnan(block)
        rows, samples = np.flatnonzero(has_answer.any(axis=1)), np.flatnonzero(has_answer.any(axis=0))
        channels = tuple(columns)
        for name, column in zip(channels, block[:, samples], strict=True):
            self._losses.add("missing-values", name, int(np.isnan(column).sum()))
        time_ns, block = time_ns[samples], block[np.ix_(rows, samples)]
        names = tuple(channels[row] for row in rows.tolist())
        if len(time_ns):
            self._after_ns[uuid] = int(time_ns[-1])
        return Trace.stacked(device, time_ns, names, block=block)

    def _device(self, uuid: str, found: Found) -> Device:
        host = next(iter(found.hosts), "")
        device = self._devices.setdefault(uuid, device_of(uuid, next(iter(found.chips), ""), host=host))
        self._losses.add("host-conflict", uuid, sum(host != device.host for host in found.hosts))
        return device

    def _of_one_family(self, uuid: str, found: Found) -> Mapping[str, list[Part]]:
        """Return the columns of the exporter that was taken before, or else has the most samples."""
        sizes = {name: _n_samples(columns) for name, columns in found.families.items()}
        family = self._family.get(uuid, "")
        if not sizes.get(family):
            family = self._family[uuid] = max(sizes, key=lambda name: sizes[name])
        self._losses.add("other-source", uuid, sum(sizes.values()) - sizes[family])
        return found.families[family]


def _n_samples(columns: Mapping[str, list[Part]]) -> int:
    return sum(len(part.series) for parts in columns.values() for part in parts)


def _table(
    columns: Mapping[str, list[Part]], after_ns: int, *, losses: Losses
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the instants of all columns after one, and a row of values a column, NaN where there is none."""
    stamps = [part.series.time_ns for parts in columns.values() for part in parts]
    time_ns = np.unique(np.concatenate(stamps)) if stamps else np.array([], dtype=np.int64)
    time_ns = time_ns[time_ns > after_ns]
    block = np.full((len(columns), len(time_ns)), np.nan)
    if not len(time_ns):
        return time_ns, block
    present = _present(columns, time_ns)
    for row, (channel, parts) in zip(block, columns.items(), strict=True):
        for part in parts:
            if part.share is None:
                _fill(row, time_ns, part, channel=channel, losses=losses)
        of_slices = [part for part in parts if part.share is not None]
        if of_slices:
            total = _of_slices(of_slices, time_ns, present, channel=channel, losses=losses)
            np.copyto(row, total, where=np.isnan(row))
    return time_ns, block


def _present(columns: Mapping[str, list[Part]], time_ns: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
    """Say when each slice had a series at all, whatever it held."""
    present: dict[str, NDArray[np.bool_]] = {}
    for part in (part for parts in columns.values() for part in parts if part.slice_id):
        there = present.setdefault(part.slice_id, np.zeros(len(time_ns), dtype=np.bool_))
        stamps = part.series.time_ns
        there[np.searchsorted(time_ns, stamps[stamps >= time_ns[0]])] = True
    return present


def _of_slices(
    parts: list[Part],
    time_ns: NDArray[np.int64],
    present: Mapping[str, NDArray[np.bool_]],
    *,
    channel: str,
    losses: Losses,
) -> NDArray[np.float64]:
    """Return a channel of a GPU from the activity of its slices."""
    columns: dict[str, NDArray[np.float64]] = {}
    shares: dict[str, float] = {}
    for part in parts:
        row = columns.setdefault(part.slice_id, np.full(len(time_ns), np.nan))
        shares[part.slice_id] = part.share or 0.0
        _fill(row, time_ns, part, channel=channel, losses=losses)
    return of_whole_gpu(columns, shares, present)


def _fill(
    row: NDArray[np.float64], time_ns: NDArray[np.int64], part: Part, *, channel: str, losses: Losses
) -> None:
    """Put the samples of a series where there is none yet."""
    stamps, numbers = part.series.time_ns, part.series.values
    losses.add("unsorted", channel, int((stamps[1:] < stamps[:-1]).sum()))
    is_new = stamps >= time_ns[0]
    values = _in_base_units(numbers[is_new], part.factor, channel=channel, losses=losses)
    places = np.searchsorted(time_ns, stamps[is_new])
    is_free = np.isnan(row[places])
    row[places[is_free][::-1]] = values[is_free][::-1]  # backwards: of equal instants the first stays
    if not part.slice_id or part.share is not None:
        differs = ~np.isnan(values) & (row[places] != values)
        losses.add("duplicate-times", channel, int(differs.sum()))


def _in_base_units(
    numbers: NDArray[np.float64], factor: float, *, channel: str, losses: Losses
) -> NDArray[np.float64]:
    """Convert values; DCGM's blanks are no answer, what cannot be a measurement is taken out, not clamped."""
    with np.errstate(over="ignore"):  # an overflow is infinite, hence impossible
        values = numbers * factor
    if (numbers >= SMALLEST_BLANK).any():
        values[np.isin(numbers, BLANK_NUMBERS)] = np.nan
    is_infinite = np.isinf(values)
    low, high = _limits(channel)
    is_impossible = ((values < low) | (values > high)) & ~is_infinite
    values[is_infinite | is_impossible] = np.nan
    losses.add("infinite-value", channel, int(is_infinite.sum()))
    losses.add("quarantined", channel, int(is_impossible.sum()))
    return values


def _limits(channel: str) -> tuple[float, float]:
    if channel.endswith("_ratio"):
        return -RATIO_SLACK, 1 + RATIO_SLACK
    return (ABSOLUTE_ZERO_CELSIUS if channel.endswith("_celsius") else 0.0), LARGEST_COUNT
