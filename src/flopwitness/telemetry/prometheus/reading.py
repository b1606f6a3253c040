"""A stretch of time from an API, window by window, as pieces of traces."""

from collections.abc import Iterable, Iterator, Mapping

from flopwitness.core.device import Device
from flopwitness.core.finding import Finding
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.telemetry.prometheus.client import NANOSECONDS_PER_MILLISECOND, RawSamples
from flopwitness.telemetry.prometheus.fetching import TooMuchError
from flopwitness.telemetry.prometheus.pivot import Pivot
from flopwitness.telemetry.prometheus.series import Series

MOST_POINTS = 10_000
"""Samples of one series in one answer: servers and proxies refuse more than some 11,000."""

FIRST_WINDOW_NS = 600 * NANOSECONDS_PER_SECOND
LONGEST_WINDOW_NS = 86_400 * NANOSECONDS_PER_SECOND
SHORTEST_WINDOW_NS = NANOSECONDS_PER_SECOND


class PrometheusReader:
    """Reads what was scraped between two instants.

    Parameters
    ----------
    client : RawSamples
        Gives the samples.
    start_ns, stop_ns : int
        First and last instant, UTC nanoseconds; what lies on them belongs to it.
    after_ns : mapping of str to int or None
        Last instants that are known already, by UUID: only later samples are given.
    devices : iterable of Device
        Devices that are known already.

    Attributes
    ----------
    findings : tuple of Finding
        What the last ``read`` lost, once it is at its end.
    """

    def __init__(
        self,
        client: RawSamples,
        start_ns: int,
        stop_ns: int,
        *,
        after_ns: Mapping[str, int] | None = None,
        devices: Iterable[Device] = (),
    ) -> None:
        self._client = client
        self._start_ns, self._stop_ns = start_ns, stop_ns
        self._after_ns, self._devices = dict(after_ns or {}), tuple(devices)
        self.findings: tuple[Finding, ...] = ()

    def read(self) -> Iterator[Trace]:
        """Yield pieces, each device's in time order, no sample twice.

        Raises
        ------
        SourceUnavailableError
            When the server does not answer, or refuses even the shortest stretch.
        BadInputError
            When it answers something else.
        """
        pivot = Pivot(self._after_ns, devices=self._devices)
        notes: dict[Finding, None] = {}
        for series, findings in self._windows():
            notes |= dict.fromkeys(findings)
            yield from pivot.take(series)
        self.findings = (*notes, *pivot.findings())

    def _windows(self) -> Iterator[tuple[list[Series], list[Finding]]]:
        """Yield the answers for windows as long as an answer can hold, one after the other."""
        at_ns = max(self._start_ns - NANOSECONDS_PER_MILLISECOND, 0)
        window_ns = FIRST_WINDOW_NS
        while at_ns < self._stop_ns:
            until_ns = min(at_ns + window_ns, self._stop_ns)
            try:
                series, findings = self._client.samples(at_ns, until_ns)
            except TooMuchError:
                if until_ns - at_ns <= SHORTEST_WINDOW_NS:
                    raise
                window_ns = max((until_ns - at_ns) // 2, SHORTEST_WINDOW_NS)
                continue
            yield series, findings
            at_ns = until_ns
            window_ns = next_window_ns(window_ns, max(map(len, series), default=0))


def next_window_ns(window_ns: int, n_points: int) -> int:
    """Return how long the next window may be after one in which the densest series had so many samples.

    Examples
    --------
    >>> next_window_ns(600 * 10**9, 40) // 10**9, next_window_ns(3600 * 10**9, 36_000) // 10**9
    (1200, 1000)
    """
    fitting_ns = window_ns * MOST_POINTS // max(n_points, 1)
    return max(min(fitting_ns, 2 * window_ns, LONGEST_WINDOW_NS), SHORTEST_WINDOW_NS)
