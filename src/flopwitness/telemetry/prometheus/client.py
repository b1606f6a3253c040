"""Raw samples of GPU series over HTTP, as they were scraped.

Prometheus: an instant query with a range selector, ``{...}[3600s]``, gives stored samples. ``query_range``
would resample them and carry values forward for five minutes; ``increase()`` would extrapolate. Neither is
used. VictoriaMetrics answers the same query, and its ``/api/v1/export`` gives lines.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import numpy as np

from flopwitness.core.finding import Finding
from flopwitness.telemetry.prometheus.fetching import Access, fetched
from flopwitness.telemetry.prometheus.names import SIGNALS
from flopwitness.telemetry.prometheus.series import Series, from_export_lines, from_matrix

NANOSECONDS_PER_MILLISECOND = 1_000_000

Answer = tuple[list[Series], list[Finding]]


class Api(StrEnum):
    """How to ask."""

    PROMETHEUS = "prometheus"
    VICTORIAMETRICS = "victoriametrics"


class RawSamples(Protocol):
    """What a reader asks for samples."""

    def samples(self, start_ns: int, stop_ns: int) -> Answer:
        """Return all samples after one instant, up to and with another."""
        ...


class PrometheusClient:
    """Asks an API for the samples of all GPU series that we know.

    Parameters
    ----------
    access : Access
        Where and who.
    api : Api
        How to ask.
    match : str
        More label matchers, such as ``hostname="n1"``; empty for all GPUs.
    names : sequence of str
        Metrics that are asked for.
    """

    def __init__(
        self,
        access: Access,
        *,
        api: Api = Api.PROMETHEUS,
        match: str = "",
        names: Sequence[str] = tuple(SIGNALS),
    ) -> None:
        self.access = access
        self._api = api
        self._selector = selector(names, match)

    def samples(self, start_ns: int, stop_ns: int) -> Answer:
        """Return all samples after one instant, up to and with another, both to the millisecond.

        Raises
        ------
        TooMuchError
            When the stretch is too long for one answer.
        SourceUnavailableError
            When the server does not answer, or refuses.
        BadInputError
            When what it answers is no such answer.
        """
        start_ms, stop_ms = (instant // NANOSECONDS_PER_MILLISECOND for instant in (start_ns, stop_ns))
        if self._api is Api.VICTORIAMETRICS:
            form = [
                ("match[]", self._selector),
                ("start", _seconds(start_ms + 1)),
                ("end", _seconds(stop_ms)),
            ]
            data = fetched(self.access, "/api/v1/export", form)
            series, findings = from_export_lines(data, source=self.access.name)
        else:
            query = f"{self._selector}[{stop_ms - start_ms}ms]"
            data = fetched(self.access, "/api/v1/query", [("query", query), ("time", _seconds(stop_ms))])
            series, findings = from_matrix(data, source=self.access.name)
        first_ns, last_ns = (ms * NANOSECONDS_PER_MILLISECOND for ms in (start_ms, stop_ms))
        return [_within(each, first_ns, last_ns) for each in series], findings


def selector(names: Sequence[str], match: str = "") -> str:
    """Return a selector of several metrics.

    Examples
    --------
    >>> selector(["a", "b"], 'hostname="n1"')
    '{__name__=~"a|b",hostname="n1"}'
    """
    more = f",{match}" if match else ""
    return f'{{__name__=~"{"|".join(names)}"{more}}}'


def _seconds(milliseconds: int) -> str:
    """Return milliseconds as decimal seconds, without passing through a float."""
    return f"{milliseconds // 1000}.{milliseconds % 1000:03d}"


def _within(series: Series, after_ns: int, until_ns: int) -> Series:
    """Return the samples of a half-open stretch: before Prometheus 3 a range holds its first instant, too."""
    inside = (series.time_ns > after_ns) & (series.time_ns <= until_ns)
    if np.all(inside):
        return series
    return Series(series.labels, series.time_ns[inside], series.values[inside])
