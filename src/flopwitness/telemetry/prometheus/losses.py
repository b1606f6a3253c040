"""What was lost on the way from series to traces, counted while windows pass, told once at the end."""

from collections import Counter

from flopwitness.core.finding import Finding, Severity

WORDS = {
    "unknown-column": (Severity.NOTE, "{n} series of {subject} are no channel of a GPU and were set aside"),
    "uuid-missing": (Severity.WARNING, "{n} series of {subject} name no GPU by UUID and were left out"),
    "unit-ambiguous": (
        Severity.NOTE,
        "{n} series of {subject} are a rate of unclear unit under a counter's name: never billed from",
    ),
    "slice-activity": (
        Severity.WARNING,
        "{n} series of {subject} are a MIG slice's share of itself, nobody says how large, and were left out",
    ),
    "not-applicable": (
        Severity.NOTE,
        "{n} series of {subject} say nothing of a GPU in MIG mode, where 0 is not idle, and were left out",
    ),
    "other-source": (
        Severity.NOTE,
        "{n} samples of {subject} came from a second exporter and were left out: the other has more",
    ),
    "host-conflict": (Severity.WARNING, "{subject} is said to sit in another host in {n} answers"),
    "unsorted": (Severity.WARNING, "time runs back {n} times in {subject}; samples were sorted"),
    "duplicate-times": (
        Severity.WARNING,
        "{n} samples of {subject} repeat an instant with another value; the first was kept",
    ),
    "infinite-value": (Severity.WARNING, "{n} values of {subject} are infinite and were taken out"),
    "quarantined": (Severity.WARNING, "{n} values of {subject} are impossible and were taken out"),
    "missing-values": (Severity.NOTE, "{n} values of {subject} are missing where other signals answered"),
}
"""Every loss: how grave it is, and in words."""


class Losses:
    """Counts losses by what was lost and whose it was."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, code: str, subject: str, n: int) -> None:
        """Count losses; none is fine.

        Parameters
        ----------
        code : str
            A key of ``WORDS``.
        subject : str
            The metric, channel or device.
        n : int
            How many, >= 0.
        """
        if n:
            self._counts[code, subject] += n

    def findings(self) -> tuple[Finding, ...]:
        """Return one finding a loss and subject, in the order of ``WORDS``."""
        order = list(WORDS)
        ranked = sorted(self._counts.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
        return tuple(_finding(code, subject, n) for (code, subject), n in ranked)


def _finding(code: str, subject: str, n: int) -> Finding:
    severity, words = WORDS[code]
    return Finding(code, words.format(n=n, subject=subject), severity, subject=subject)
