"""What reading lost or had to infer: counted over a whole file, said once."""

from dataclasses import dataclass, field, replace

from flopwitness.core.finding import Finding, Severity


@dataclass(slots=True)
class _Count:
    severity: Severity
    n: int = 0
    first_line: int | None = None


@dataclass(slots=True)
class Notes:
    """Findings of one pass over a file.

    ``count`` adds up what happens again and again; ``say`` keeps a sentence, once. Order is that of the first
    mention.
    """

    _counts: dict[tuple[str, str, str], _Count] = field(default_factory=dict)
    _said: dict[Finding, None] = field(default_factory=dict)

    def count(  # noqa: PLR0913  each is part of the sentence
        self,
        code: str,
        what: str,
        *,
        n: int = 1,
        line: int | None = None,
        subject: str = "",
        severity: Severity = Severity.WARNING,
    ) -> None:
        """Add ``n`` cases of ``what``, a phrase that follows a number: ``"rows have no time"``."""
        if not n:
            return
        found = self._counts.setdefault((code, what, subject), _Count(severity))
        found.n += int(n)
        if found.first_line is None:
            found.first_line = line

    def say(self, finding: Finding) -> None:
        """Keep a finding; a second one that is equal adds nothing."""
        self._said.setdefault(finding)

    def n(self, code: str) -> int:
        """Return how many cases of a code were counted."""
        return sum(count.n for (found, _, _), count in self._counts.items() if found == code)

    def findings(self) -> tuple[Finding, ...]:
        """Return everything that was noted."""
        counted = [
            Finding(code, f"{count.n} {what}{_where(count)}", count.severity, subject)
            for (code, what, subject), count in self._counts.items()
        ]
        return tuple(on_one_line(found) for found in (*self._said, *counted))


def on_one_line(found: Finding) -> Finding:
    """Return a finding whose texts, which may repeat a foreign name, have no line breaks."""
    if len(found.message.splitlines()) < 2 and len(found.subject.splitlines()) < 2:
        return found
    message, subject = (" ".join(text.split()) for text in (found.message, found.subject))
    return replace(found, message=message, subject=subject)


def _where(count: _Count) -> str:
    return "" if count.first_line is None else f", the first in line {count.first_line}"
