"""Fitted constants as plain values: a frozen dataclass to JSON numbers and back, exactly."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from flopwitness.core.errors import CalibrationMismatchError


class PlainState:
    """Base of every predictor's fitted constants; subclasses are frozen dataclasses of numbers and arrays."""

    def to_plain(self) -> dict[str, Any]:
        """Return the constants as numbers and nested lists."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        """Build the constants from what ``to_plain`` gave.

        Raises
        ------
        CalibrationMismatchError
            When a constant is missing, unknown or no finite number.
        """
        fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        if set(values) != set(fields):
            raise CalibrationMismatchError(
                f"{cls.__name__} needs the constants {sorted(fields)}, got {sorted(values)}"
            )
        try:
            return cls(
                **{
                    name: _value(name, values[name], is_number=field.type is float)
                    for name, field in fields.items()
                }
            )
        except (TypeError, ValueError) as error:
            raise CalibrationMismatchError(f"{cls.__name__}: {error}") from None


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _value(name: str, value: object, *, is_number: bool) -> object:
    """Return a float or an array, as the field wants."""
    if isinstance(value, list) == is_number or not isinstance(value, list | float | int):
        raise TypeError(f"{name} is to be {'a number' if is_number else 'a list'}, got {value!r:.40}")
    numbers = np.asarray(value)
    if numbers.size and (numbers.dtype.kind not in "fiu" or not np.isfinite(numbers).all()):
        raise ValueError(f"{name} holds what is no finite number")
    return float(value) if isinstance(value, float | int) else numbers.astype(np.float64)
