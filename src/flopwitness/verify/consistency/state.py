"""Everything that was fitted for the consistency checks, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from flopwitness.core.errors import CalibrationMismatchError
from flopwitness.verify.consistency.lags import LagLimits
from flopwitness.verify.consistency.load import LoadLimits
from flopwitness.verify.consistency.regression import Regression
from flopwitness.verify.consistency.traffic import TrafficLimits

PARTS = ("power", "matrix", "load_limits", "lag_limits", "traffic_limits")


@dataclass(frozen=True, slots=True, eq=False)
class ConsistencyState:
    """Fitted constants of one chip.

    Attributes
    ----------
    chip : str
        The chip that they are for.
    power, matrix : Regression
        Power from activity; matrix-pipe activity from every other signal.
    load_limits : LoadLimits
        Largest residuals of both on clean recordings.
    lag_limits : LagLimits
        Lags between signals of clean recordings.
    traffic_limits : TrafficLimits
        Greatest traffic of their work.
    """

    chip: str
    power: Regression
    matrix: Regression
    load_limits: LoadLimits
    lag_limits: LagLimits
    traffic_limits: TrafficLimits

    def to_plain(self) -> dict[str, Any]:
        """Return the constants as text, numbers and nested lists."""
        parts = {name: getattr(self, name).to_plain() for name in PARTS}
        return {"chip": self.chip, **parts}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        """Build the constants from what ``to_plain`` gave.

        Raises
        ------
        CalibrationMismatchError
            When a constant is missing, unknown or no finite number.
        """
        if set(values) != {"chip", *PARTS} or not isinstance(values["chip"], str):
            raise CalibrationMismatchError(f"consistency constants need chip, {', '.join(PARTS)}")
        return cls(
            values["chip"],
            Regression.from_plain(values["power"]),
            Regression.from_plain(values["matrix"]),
            LoadLimits.from_plain(values["load_limits"]),
            LagLimits.from_plain(values["lag_limits"]),
            TrafficLimits.from_plain(values["traffic_limits"]),
        )
