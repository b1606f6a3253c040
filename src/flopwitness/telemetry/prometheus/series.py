"""Series as Prometheus' HTTP API and VictoriaMetrics' export write them: raw samples with labels.

Pure: bytes in, series out. What the numbers mean is said by ``pivot``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.prometheus.cells import (
    MICROSECONDS_PER_MILLISECOND,
    MICROSECONDS_PER_SECOND,
    instants_of,
    numbers_of,
)

NAME = "__name__"
"""The label that holds a metric's name."""

MOST_SHOWN = 200
"""Characters of a server's own words that a message repeats."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Samples of one metric with one set of labels.

    Attributes
    ----------
    labels : mapping of str to str
        As the source wrote them, the metric's name under ``__name__``.
    time_ns : ndarray of shape (n_samples,), int64
        UTC nanoseconds, in the order of the source.
    values : ndarray of shape (n_samples,), float64
        In the source's unit; NaN where it gave no number, infinite where it said so.

    Raises
    ------
    InvalidNounError
        When the two arrays differ in shape.
    """

    labels: Mapping[str, str]
    time_ns: NDArray[np.int64]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Refuse samples without an instant, and instants without a sample."""
        if self.time_ns.ndim != 1 or self.time_ns.shape != self.values.shape:
            raise InvalidNounError(
                f"series {self.name!r}: {self.time_ns.shape} instants, {self.values.shape} values"
            )

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def name(self) -> str:
        """The metric's name; empty where there is none."""
        return self.labels.get(NAME, "")


def from_matrix(payload: bytes | str, *, source: str = "query") -> tuple[list[Series], list[Finding]]:
    """Read an answer of Prometheus' ``/api/v1/query`` or ``/api/v1/query_range``.

    Parameters
    ----------
    payload : bytes or str
        The whole answer: JSON with a ``matrix`` or a ``vector``.
    source : str
        Where it came from, for messages.

    Returns
    -------
    series : list of Series
        In the order of the answer.
    findings : list of Finding
        ``source-warning`` for each warning in the envelope, ``bad-cell`` and ``bad-row`` where something
        could not be read: a bad value costs itself, a bad instant its sample, a bad series itself.

    Raises
    ------
    BadInputError
        When it is no such answer, or the server said that the query failed.

    Examples
    --------
    >>> text = '''{"status": "success", "data": {"resultType": "matrix", "result": [
    ...   {"metric": {"__name__": "up"}, "values": [[1770091506.1, "1"], [1770091507.1, "NaN"]]}]}}'''
    >>> series, findings = from_matrix(text)
    >>> series[0].time_ns.tolist(), series[0].values.tolist(), findings
    ([1770091506100000000, 1770091507100000000], [1.0, nan], [])
    """
    answer = _object(payload, source=source)
    if answer.get("status") != "success":
        said = _shown(answer.get("error") or answer.get("status") or "no status")
        raise BadInputError(source, "", expected="an answer with status 'success'", got=said)
    data = answer.get("data")
    kind, found = (data.get("resultType"), data.get("result")) if isinstance(data, dict) else (None, None)
    if kind not in ("matrix", "vector") or not isinstance(found, list):
        raise BadInputError(source, "data", expected="a matrix or a vector", got=_shown(kind))
    read = [_of_entry(entry) for entry in found]
    return _counted(read, source=source, findings=_warnings(answer, source))


def from_export_lines(data: bytes, *, source: str = "export") -> tuple[list[Series], list[Finding]]:
    """Read lines of VictoriaMetrics' ``/api/v1/export``: one JSON object a line, milliseconds, null for NaN.

    Parameters
    ----------
    data : bytes
        Whole lines, but for the last, which may be cut.
    source : str
        Where they came from, for messages.

    Returns
    -------
    series : list of Series
        One a line; a series may come in several lines.
    findings : list of Finding
        ``bad-cell`` and ``bad-row`` as of ``from_matrix``; ``truncated`` for a last line without an end.

    Raises
    ------
    BadInputError
        When there are lines and none can be read.

    Examples
    --------
    >>> line = b'{"metric":{"__name__":"up"},"values":[1,null],"timestamps":[1770091506100,1770091507100]}'
    >>> [(each.name, each.values.tolist()) for each in from_export_lines(line)[0]]
    [('up', [1.0, nan])]
    """
    lines = [line for line in data.split(b"\n") if line.strip()]
    read = [_of_line(line) for line in lines]
    findings: list[Finding] = []
    if len(lines) > 1 and read[-1] is None and not data.endswith(b"\n"):
        findings.append(Finding("truncated", "the last line has no end and was left out", subject=source))
        del read[-1]
    if lines and all(each is None for each in read):
        raise BadInputError(source, "line 1", expected="an object with a metric", got=_shown(lines[0]))
    return _counted(read, source=source, findings=findings)


def _object(payload: bytes | str, *, source: str) -> Mapping[str, object]:
    try:
        answer = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise BadInputError(source, "", expected="JSON", got=_shown(error)) from None
    if not isinstance(answer, dict):
        raise BadInputError(source, "", expected="an object", got=f"a {type(answer).__name__}")
    return answer


def _warnings(answer: Mapping[str, object], source: str) -> list[Finding]:
    """Return what the server said beside its answer: it may be partial."""
    said = answer.get("warnings")
    words = said if isinstance(said, list) else []
    return [
        Finding("source-warning", f"{source} says: {_shown(each)}", Severity.WARNING, subject=source)
        for each in dict.fromkeys(str(word) for word in words)
    ]


def _of_entry(entry: object) -> tuple[Series, int] | None:
    if not isinstance(entry, dict) or (labels := _labels(entry.get("metric"))) is None:
        return None
    found = entry.get("values", [entry["value"]] if "value" in entry else [])
    if not isinstance(found, list):
        return None
    pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2]
    stamps, texts = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    series, n_bad = _made(labels, stamps, texts, microseconds_per_unit=MICROSECONDS_PER_SECOND)
    return series, n_bad + len(found) - len(pairs)


def _of_line(line: bytes) -> tuple[Series, int] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or (labels := _labels(entry.get("metric"))) is None:
        return None
    stamps, numbers = entry.get("timestamps"), entry.get("values")
    if not isinstance(stamps, list) or not isinstance(numbers, list) or len(stamps) != len(numbers):
        return None
    return _made(labels, stamps, numbers, microseconds_per_unit=MICROSECONDS_PER_MILLISECOND)


def _labels(found: object) -> Mapping[str, str] | None:
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        return None
    return found


def _made(
    labels: Mapping[str, str], stamps: list[object], cells: list[object], *, microseconds_per_unit: float
) -> tuple[Series, int]:
    """Return a series and how many cells could not be read; a sample without an instant is left out."""
    time_ns, is_instant = instants_of(stamps, microseconds_per_unit=microseconds_per_unit)
    values, n_bad = numbers_of(cells)
    n_lost = len(stamps) - int(np.count_nonzero(is_instant))
    if n_lost:
        time_ns, values = time_ns[is_instant], values[is_instant]
    return Series(labels, time_ns, values), n_bad + n_lost


def _counted(
    read: list[tuple[Series, int] | None], *, source: str, findings: list[Finding]
) -> tuple[list[Series], list[Finding]]:
    """Return what could be read, and how much could not."""
    n_lost, n_bad = read.count(None), sum(each[1] for each in read if each is not None)
    if n_lost:
        message = f"{n_lost} of {len(read)} series could not be read and were left out"
        findings.append(Finding("bad-row", message, subject=source))
    if n_bad:
        message = f"{n_bad} samples hold no number or no instant"
        findings.append(Finding("bad-cell", message, subject=source))
    return [each[0] for each in read if each is not None], findings


def _shown(found: object) -> str:
    text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    return " ".join(text.split())[:MOST_SHOWN] or "nothing"
