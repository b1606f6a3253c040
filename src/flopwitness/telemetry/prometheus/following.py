"""An API as a live source: what was scraped since it was last asked."""

import time
from collections.abc import Callable, Mapping

from flopwitness.core.errors import BadInputError
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace, joined
from flopwitness.telemetry.prometheus.client import RawSamples
from flopwitness.telemetry.prometheus.fetching import SOURCE
from flopwitness.telemetry.prometheus.reading import PrometheusReader
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError

LOOK_BACK_SECONDS = 300.0
"""A series without a sample for so long has ended: what Prometheus holds, too."""

LAG_SECONDS = 5.0
"""Samples are asked for once they are this old: by then a scrape has come to its end and is stored."""


class PrometheusSampler:
    """Follows an API. Nothing is lost while it does not answer: the next answer begins where the last ended.

    Parameters
    ----------
    client : RawSamples
        Gives the samples.
    now : callable
        Tells the time, UTC nanoseconds.
    since_ns : int or None
        Where to begin; now where None.
    lag_seconds : float
        How old a sample must be, >= 0.

    Attributes
    ----------
    source, driver : str
        Its name; empty, since nobody says.
    devices : tuple of Device
        What was scraped in the last five minutes.
    lost : mapping of str to str
        Devices without a sample for five minutes, with the reason, by UUID.
    n_missed : int
        0: samples are those of the scrapes, at their pace.

    Raises
    ------
    SourceUnavailableError
        When nothing answers, or no GPU was scraped lately.
    """

    def __init__(
        self,
        client: RawSamples,
        *,
        now: Callable[[], int] = time.time_ns,
        since_ns: int | None = None,
        lag_seconds: float = LAG_SECONDS,
    ) -> None:
        self.source, self.driver, self.n_missed = SOURCE, "", 0
        self.lost: Mapping[str, str] = {}
        self._client, self._now = client, now
        self._lag_ns = round(lag_seconds * NANOSECONDS_PER_SECOND)
        start_ns = now()
        look_back_ns = start_ns - round(LOOK_BACK_SECONDS * NANOSECONDS_PER_SECOND)
        recent = list(PrometheusReader(client, look_back_ns, start_ns).read())
        self.devices = tuple(dict.fromkeys(piece.device for piece in recent))
        if not self.devices:
            raise SourceUnavailableError(SOURCE, "no GPU was scraped in the last five minutes")
        self._last_ns = {piece.device.uuid: int(piece.time_ns[-1]) for piece in recent}
        self._at_ns = start_ns - self._lag_ns if since_ns is None else since_ns

    def pace(self, interval_seconds: float) -> None:
        """Do nothing: the scrapes keep the beat."""

    def fetch(self) -> tuple[Trace, ...]:
        """Return the samples since the last call, one trace a device; none while the API does not answer."""
        until_ns = self._now() - self._lag_ns
        if until_ns <= self._at_ns:
            return ()
        reader = PrometheusReader(self._client, self._at_ns + 1_000_000, until_ns, devices=self.devices)
        try:
            pieces = list(reader.read())
        except (SourceUnavailableError, BadInputError) as error:
            self._note_lost(until_ns, why=str(error))
            return ()
        self._at_ns = until_ns
        parts: dict[str, list[Trace]] = {}
        for piece in pieces:
            parts.setdefault(piece.device.uuid, []).append(piece)
        self._last_ns |= {uuid: int(each[-1].time_ns[-1]) for uuid, each in parts.items()}
        self._note_lost(until_ns, why="it was not scraped for five minutes")
        return tuple(joined(each) for each in parts.values())

    def sample(self) -> tuple[Trace, ...]:
        """Return the newest sample of each device that has one since the last call."""
        return tuple(piece.between(len(piece) - 1, len(piece)) for piece in self.fetch())

    def close(self) -> None:
        """Do nothing: no connection is kept; may be called twice."""

    def _note_lost(self, until_ns: int, *, why: str) -> None:
        limit_ns = until_ns - round(LOOK_BACK_SECONDS * NANOSECONDS_PER_SECOND)
        self.lost = {uuid: why for uuid, last_ns in self._last_ns.items() if last_ns < limit_ns}
