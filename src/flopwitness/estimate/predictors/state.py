"""Fitted constants as plain values: a frozen dataclass to JSON numbers and back, exactly."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from flopwitness.core.errors import CalibrationMismatchError


class PlainState:
    """Base of every predictor's fitted constants; subclasses are frozen dataclasses of numbers and arrays."""

    def to_plain(self) -> dict[str, Any]:
        """Return the constants as numbers, strings and nested lists."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        """Build the constants from what ``to_plain`` gave.

        Raises
        ------
        CalibrationMismatchError
            When a constant is missing, unknown or no number.
        """
        fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        if set(values) != set(fields):
            raise CalibrationMismatchError(
                f"{cls.__name__} needs the constants {sorted(fields)}, got {sorted(values)}"
            )
        try:
            return cls(**{name: _value(values[name]) for name in fields})
        except (TypeError, ValueError) as error:
            raise CalibrationMismatchError(f"{cls.__name__}: {error}") from None


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _value(value: object) -> object:
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return tuple(value)
    return np.asarray(value, dtype=np.float64) if isinstance(value, list) else value
