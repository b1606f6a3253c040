"""Samples of one device: the evidence that everything else is made from."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.core.channels import has_unit
from flopwitness.core.device import Device
from flopwitness.core.errors import InvalidNounError

NANOSECONDS_PER_SECOND = 1_000_000_000


def _is_shared(array: NDArray[Any]) -> bool:
    """Say whether anybody can still write to the memory under an array."""
    layer: Any = array
    while isinstance(layer, np.ndarray):
        if layer.flags.writeable:
            return True
        layer = layer.base
    return False


def _frozen(values: ArrayLike, dtype: type[np.generic]) -> NDArray[Any]:
    """Copy what a caller could still write to; share what nobody can."""
    array = np.asarray(values, dtype=dtype)
    if _is_shared(array):
        array = array.copy()
        array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Samples of one device, in time order.

    Attributes
    ----------
    device : Device
        Whose samples these are, known by UUID, never by index.
    time_ns : ndarray of shape (n_samples,), int64, strictly increasing
        When each sample was taken: nanoseconds since the Unix epoch, UTC.
    channels : mapping of str to ndarray of shape (n_samples,), float64
        One column a signal; the name ends in the unit. A channel that the
        source lacks is an absent key, a sample that it did not give is NaN.

    Raises
    ------
    InvalidNounError
        When time does not strictly increase, a column has another length, a name has no unit
        or a value is infinite.

    Examples
    --------
    >>> trace = Trace(Device("GPU-a"), [0, 10**9], {"power_watts": [80.0, 90.0]})
    >>> len(trace), float(trace["power_watts"][1])
    (2, 90.0)
    """

    device: Device
    time_ns: NDArray[np.int64]
    channels: Mapping[str, NDArray[np.float64]]

    def __init__(self, device: Device, time_ns: ArrayLike, channels: Mapping[str, ArrayLike]) -> None:
        time = _frozen(time_ns, np.int64)
        columns = {name: _frozen(values, np.float64) for name, values in channels.items()}
        _check(device, time, columns)
        object.__setattr__(self, "device", device)
        object.__setattr__(self, "time_ns", time)
        object.__setattr__(self, "channels", MappingProxyType(columns))

    def __len__(self) -> int:
        return len(self.time_ns)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self.channels[name]

    def __contains__(self, name: object) -> bool:
        return name in self.channels

    def __eq__(self, other: object) -> bool:
        """Compare bit for bit; a NaN equals a NaN of the same bits."""
        return isinstance(other, Trace) and self.digest() == other.digest()

    def __hash__(self) -> int:
        return hash(self.digest())

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.device, self.time_ns, dict(self.channels))

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a channel, or NaN throughout where the source lacks it."""
        found = self.channels.get(name)
        return np.full(len(self), np.nan) if found is None else found

    def between(self, start: int, stop: int) -> Self:
        """Return the samples from index ``start`` up to, not including, ``stop``; nothing is copied."""
        part = object.__new__(type(self))  # a stretch of what was checked needs no second check
        columns = {name: column[start:stop] for name, column in self.channels.items()}
        object.__setattr__(part, "device", self.device)
        object.__setattr__(part, "time_ns", self.time_ns[start:stop])
        object.__setattr__(part, "channels", MappingProxyType(columns))
        return part

    def within(self, start_ns: int, stop_ns: int) -> Self:
        """Return the samples of the closed stretch from ``start_ns`` to ``stop_ns``."""
        start = int(np.searchsorted(self.time_ns, start_ns, side="left"))
        stop = int(np.searchsorted(self.time_ns, stop_ns, side="right"))
        return self.between(start, stop)

    def seconds(self) -> NDArray[np.float64]:
        """Return seconds since the first sample, shape (n_samples,)."""
        if not len(self):
            return np.empty(0)
        elapsed: NDArray[np.float64] = (self.time_ns - self.time_ns[0]) / NANOSECONDS_PER_SECOND
        return elapsed

    def digest(self) -> str:
        """Return the SHA-256 of device, instants and columns as 64 hex digits."""
        state = hashlib.sha256()
        for part in (self.device.uuid, self.device.chip, self.device.host):
            state.update(part.encode() + b"\0")
        state.update(self.time_ns.astype("<i8").tobytes())
        for name in sorted(self.channels):
            state.update(name.encode() + b"\0" + self.channels[name].astype("<f8").tobytes())
        return state.hexdigest()


def _check(device: Device, time: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> None:
    if time.ndim != 1:
        raise InvalidNounError(f"trace of {device.uuid}: time has {time.ndim} axes, expected 1")
    backward = np.flatnonzero(time[1:] <= time[:-1])
    if len(backward):
        where = int(backward[0]) + 1
        raise InvalidNounError(f"trace of {device.uuid}: time does not increase at sample {where}")
    for name, column in columns.items():
        if not has_unit(name):
            raise InvalidNounError(f"channel {name!r} has no unit in its name")
        if column.shape != time.shape:
            raise InvalidNounError(f"channel {name!r} has shape {column.shape}, time has {time.shape}")
        if np.isinf(column).any():
            raise InvalidNounError(f"channel {name!r} holds an infinite value")


def joined(pieces: Iterable[Trace]) -> Trace:
    """Return one trace of pieces of one device that follow each other in time.

    A channel that some pieces lack is NaN there.

    Raises
    ------
    InvalidNounError
        When there is no piece, devices differ or a piece starts before its predecessor ends.
    """
    parts = list(pieces)
    if not parts:
        raise InvalidNounError("no piece to join")
    if len(parts) == 1:
        return parts[0]
    if len({part.device for part in parts}) > 1:
        raise InvalidNounError("pieces of several devices cannot be joined")
    names = dict.fromkeys(name for part in parts for name in part.channels)
    return Trace(
        parts[0].device,
        np.concatenate([part.time_ns for part in parts]),
        {name: np.concatenate([part.column(name) for part in parts]) for name in names},
    )
