"""How many FLOP a session spent, with bounds, and how that was found."""

from dataclasses import dataclass, field

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target


@dataclass(frozen=True, slots=True)
class Estimate:
    """A FLOP figure of one session by one method.

    Attributes
    ----------
    point_flop, low_flop, high_flop : float
        ``0 <= low <= point <= high``; ``high_flop`` may be infinite.
    coverage_ratio : float
        Share of intervals that hold the truth, as calibrated on workloads that meant no harm; in (0, 1).
    method : str
        Name of the estimator.
    target : Target
        Which FLOP is counted.
    signals : tuple of str
        Channels that it was made from.
    most_flop : float
        What it can have been at most if the workload was made to be under-counted, ``>= high_flop``; infinite
        where the method can be steered without limit.

    Raises
    ------
    InvalidNounError
        When the order or a range above is broken.
    """

    point_flop: float
    low_flop: float
    high_flop: float
    coverage_ratio: float
    method: str
    target: Target
    signals: tuple[str, ...] = field(default=())
    most_flop: float = float("inf")

    def __post_init__(self) -> None:
        """Refuse bounds that do not hold their point."""
        if not 0 <= self.low_flop <= self.point_flop <= self.high_flop:
            raise InvalidNounError(
                f"{self.method}: bounds out of order: {self.low_flop}, {self.point_flop}, {self.high_flop}"
            )
        if not self.most_flop >= self.high_flop:
            raise InvalidNounError(
                f"{self.method}: at most {self.most_flop} is less than the high {self.high_flop}"
            )
        if self.point_flop == float("inf"):
            raise InvalidNounError(f"{self.method}: a point cannot be infinite")
        if not 0 < self.coverage_ratio < 1:
            raise InvalidNounError(f"{self.method}: coverage {self.coverage_ratio} is not inside (0, 1)")

    def contains(self, flop: float) -> bool:
        """Say whether a count lies inside the bounds."""
        return self.low_flop <= flop <= self.high_flop

    @property
    def width_ratio(self) -> float:
        """Length of the interval over its point; infinite where the point is zero."""
        width = self.high_flop - self.low_flop
        return width / self.point_flop if self.point_flop > 0 else float("inf")
