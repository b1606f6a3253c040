"""Exporter text and nvidia-smi logs made for tests, in the form that the tools print."""

from collections.abc import Iterable
from datetime import UTC

from contracts.format import START_NS, recording_of_bytes
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.asked import Asked

START_MS = START_NS // 10**6
H100 = 'modelName="NVIDIA H100 80GB HBM3"'
SCRAPED = Asked(start_ns=START_NS, period_seconds=1.0)
IN_UTC = Asked(zone=UTC)


def metric(name: str, labels: str, values: Iterable[object], *, period_ms: int = 1000) -> list[str]:
    """Return one line a value, with stamps."""
    return [f"{name}{{{labels}}} {value} {START_MS + n * period_ms}" for n, value in enumerate(values)]


def scraped(*lines: str, asked: Asked = SCRAPED) -> Recording:
    """Read lines of an exporter."""
    return recording_of_bytes(("\n".join(lines) + "\n").encode(), asked)


def smi_log(header: str, *rows: str) -> Recording:
    """Read a log of nvidia-smi: a row holds what stands behind the time stamp; one a second."""
    lines = [f"2026/02/03 04:05:{6 + n:02d}.789, {row}" for n, row in enumerate(rows)]
    return recording_of_bytes("\n".join([f"timestamp, {header}", *lines, ""]).encode(), IN_UTC)


def only(recording: Recording) -> Trace:
    """Return the trace of a recording with one device."""
    (trace,) = recording.traces
    return trace


def findings(recording: Recording, code: str) -> list[Finding]:
    """Return the findings of a code."""
    return [finding for finding in recording.findings if finding.code == code]


def counted(recording: Recording, code: str) -> int:
    """Return the number that findings of a code begin with, added up."""
    return sum(int(finding.message.split()[0]) for finding in findings(recording, code))
