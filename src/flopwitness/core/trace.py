"""Samples of one device: the evidence that everything else is made from."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
        _check(device, time, tuple(columns))
        for name, column in columns.items():
            if column.shape != time.shape:
                raise InvalidNounError(f"channel {name!r} has shape {column.shape}, time has {time.shape}")
            if np.isinf(column).any():
                raise InvalidNounError(f"channel {name!r} holds an infinite value")
        self._set(device, time, columns)

    @classmethod
    def stacked(
        cls, device: Device, time_ns: ArrayLike, names: Sequence[str], *, block: NDArray[np.float64]
    ) -> Self:
        """Return a trace whose columns are the rows of one array: checked and copied at once, so much faster.

        Parameters
        ----------
        device, time_ns
            As of any trace.
        names : sequence of str
            Channel of each row.
        block : ndarray of shape (n_channels, n_samples), float64
            Copied if anybody can still write to it.

        Raises
        ------
        InvalidNounError
            As of any trace.

        Examples
        --------
        >>> block = np.array([[80.0, 90.0], [0.0, 0.5]])
        >>> names = ("power_watts", "tensor_active_ratio")
        >>> Trace.stacked(Device("GPU-a"), [0, 1], names, block=block)["tensor_active_ratio"].tolist()
        [0.0, 0.5]
        """
        time, rows = _frozen(time_ns, np.int64), _frozen(block, np.float64)
        _check(device, time, tuple(names))
        if rows.shape != (len(set(names)), *time.shape):
            raise InvalidNounError(
                f"{len(set(names))} channels of shape {time.shape} cannot be a block of shape {rows.shape}"
            )
        if np.isinf(rows).any():
            name = names[int(np.argwhere(np.isinf(rows))[0, 0])]
            raise InvalidNounError(f"channel {name!r} holds an infinite value")
        made = object.__new__(cls)
        made._set(device, time, dict(zip(names, rows, strict=True)))
        return made

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
        part._set(self.device, self.time_ns[start:stop], columns)
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

    def _set(
        self, device: Device, time: NDArray[np.int64], columns: Mapping[str, NDArray[np.float64]]
    ) -> None:
        object.__setattr__(self, "device", device)
        object.__setattr__(self, "time_ns", time)
        object.__setattr__(self, "channels", MappingProxyType(columns))


def _check(device: Device, time: NDArray[Any], names: tuple[str, ...]) -> None:
    if time.ndim != 1:
        raise InvalidNounError(f"trace of {device.uuid}: time has {time.ndim} axes, expected 1")
    if len(time) > 1 and (backward := time[1:] <= time[:-1]).any():
        where = int(backward.argmax()) + 1
        raise InvalidNounError(f"trace of {device.uuid}: time does not increase at sample {where}")
    if (unitless := _without_unit(names)) is not None:
        raise InvalidNounError(f"channel {unitless!r} has no unit in its name")


@lru_cache(maxsize=256)
def _without_unit(names: tuple[str, ...]) -> str | None:
    """Return the first name without a unit; a source gives the same names again and again."""
    return next((name for name in names if not has_unit(name)), None)


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
    names = tuple(dict.fromkeys(name for part in parts for name in part.channels))
    time_ns = np.concatenate([part.time_ns for part in parts])
    columns = [part.column(name) for name in names for part in parts]
    block = np.concatenate(columns) if columns else np.empty(0)
    for fresh in (time_ns, block):
        fresh.flags.writeable = False  # nobody else has it: it need not be copied again
    return Trace.stacked(parts[0].device, time_ns, names, block=block.reshape(len(names), len(time_ns)))
