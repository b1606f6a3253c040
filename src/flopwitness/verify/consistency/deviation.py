"""One measured disagreement, against the most that clean recordings show."""

from collections.abc import Iterable
from dataclasses import dataclass

from flopwitness.core.finding import Finding, Severity

ALARM_SCORE = 2.0
"""From twice the limit on, no calibration of ours is off that far: an alarm."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far signals disagree, whether or not that is too far.

    Attributes
    ----------
    code : str
        Which check, a stable word such as ``"power-against-activity"``.
    subject : str
        UUID of the device.
    start_ns, stop_ns : int
        Where the disagreement is greatest, UTC nanoseconds.
    amount, limit : float
        The disagreement and the most that passes, in the same unit, ``limit`` > 0.
    sentence : str
        What an auditor should know, with names and numbers.
    is_hint : bool
        Whether clean work that nobody fitted can look so too: a note, however far off.
    is_explicable : bool
        Whether honest work or an honest fault can be behind it: a warning, however far off. An alarm is kept
        for what no work explains.
    """

    code: str
    subject: str
    start_ns: int
    stop_ns: int
    amount: float
    limit: float
    sentence: str
    is_hint: bool = False
    is_explicable: bool = False

    @property
    def score(self) -> float:
        """Amount over limit; above 1 it is a finding."""
        return self.amount / self.limit

    def finding(self) -> Finding:
        """Return the finding that says so."""
        is_alarm = self.score >= ALARM_SCORE and not self.is_explicable
        severity = Severity.ALARM if is_alarm else Severity.WARNING
        if self.is_hint:
            severity = Severity.NOTE
        return Finding(self.code, self.sentence, severity, self.subject, self.start_ns, self.stop_ns)


def worst(deviations: Iterable[Deviation]) -> tuple[Deviation, ...]:
    """Return the greatest deviation of each check and device, in the order they first occur."""
    greatest: dict[tuple[str, str], Deviation] = {}
    for deviation in deviations:
        key = (deviation.code, deviation.subject)
        if key not in greatest or deviation.score > greatest[key].score:
            greatest[key] = deviation
    return tuple(greatest.values())
