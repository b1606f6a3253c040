"""Answers of Prometheus' HTTP API, saved to a file: ``query`` and ``query_range``.

Instants are seconds since 1970, values are texts. An instant query of a range selector (``metric[1h]``)
gives raw samples; ``query_range`` resamples and carries a value forward for up to five minutes, and gives
at most 11,000 points a series. Source: prometheus.io/docs/prometheus/latest/querying/api.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.prometheus.series import Series, from_matrix
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.series_readings import SeriesReader

ANSWER = re.compile(rb'"resultType"\s*:\s*"(matrix|vector)"|"status"\s*:\s*"error"')

MOST_POINTS = 11_000
"""Prometheus refuses ``query_range`` with more steps a series, so dumps are often cut there."""

FEWEST_REGULAR = 3


def claims(head: Head) -> bool:
    """Say whether a head is an answer of the API."""
    return head.first.startswith("{") and ANSWER.search(head.data) is not None


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of an answer."""
    series, findings = from_matrix(context.input.raw(), source=context.path)
    for finding in findings:
        context.notes.say(finding)
    _note_resampled(context, series)
    reader = SeriesReader(context)
    yield from reader.readings(series)
    reader.close()


def _note_resampled(context: Context, series: Sequence[Series]) -> None:
    """Say what only ``query_range`` gives: one grid for all series, or as many points as it gives at most."""
    longest = max((len(each) for each in series), default=0)
    if longest >= MOST_POINTS:
        message = (
            f"a series has {longest} points, and a range query gives at most {MOST_POINTS}: it may be cut"
        )
        context.notes.say(Finding("point-limit", message))
    if longest >= FEWEST_REGULAR and len({_grid(each) for each in series}) == 1:
        message = (
            "samples of all series lie on one even grid: a range query carries values forward for minutes"
        )
        context.notes.say(Finding("may-be-resampled", message, Severity.NOTE))


def _grid(series: Series) -> tuple[int, int]:
    """Return where a series' grid starts and its step; a series that is not even has a grid of its own."""
    steps = np.unique(np.diff(series.time_ns))
    if len(steps) != 1 or not steps[0]:
        return -1, id(series)
    return int(series.time_ns[0] % steps[0]), int(steps[0])


FORMAT = Format(
    name="prometheus-json",
    title="answer of Prometheus' HTTP API",
    claims=claims,
    parse=parse,
    is_relayed=True,
)
"""Registered in ``flopwitness.telemetry.readers.known``."""
