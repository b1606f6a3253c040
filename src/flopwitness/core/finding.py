"""Something that an auditor should know about the evidence: what, where, when and how much."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding lowers the trust in what was computed."""

    NOTE = "note"
    WARNING = "warning"
    ALARM = "alarm"


@dataclass(frozen=True, slots=True)
class Finding:
    """One observation about evidence; it never changes a number by itself.

    Attributes
    ----------
    code : str
        Stable word for scripts, such as ``"stalled"`` or ``"missing-values"``.
    message : str
        One sentence with names and numbers.
    severity : Severity
        Note, warning or alarm.
    subject : str
        The device UUID, channel or file that it speaks of; empty for the whole.
    start_ns, stop_ns : int or None
        The stretch that it speaks of, UTC nanoseconds; None where it has none.
    """

    code: str
    message: str
    severity: Severity = Severity.WARNING
    subject: str = ""
    start_ns: int | None = None
    stop_ns: int | None = None
