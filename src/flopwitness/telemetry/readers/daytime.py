"""Instants from a column of dates and one of times of day, or from times of day alone."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.telemetry.readers.cells import arrow_compute
from flopwitness.telemetry.readers.clocks import NO_INSTANT, iso_instants
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.tables import Table

DAY_NS = 86_400 * NANOSECONDS_PER_SECOND
HALF_A_DAY_NS = DAY_NS // 2


@dataclass
class DayTimes:
    """Dates the rows of a log that writes times of day, across its blocks.

    Parameters
    ----------
    context : Context
        Holds the zone, and the day on which the log starts where it writes none.
    tool : str
        What wrote it, for messages.
    """

    context: Context
    tool: str
    _last: tuple[int, int] | None = field(default=None, init=False)

    def of(self, table: Table) -> NDArray[np.int64]:
        """Return the instant of each row; ``NO_INSTANT`` where a cell cannot be read.

        Parameters
        ----------
        table : Table
            With ``time`` (``HH:MM:SS``), and with ``date`` (``YYYYMMDD``) or without.

        Raises
        ------
        BadInputError
            When the zone is not known or, without dates, when the log starts.
        """
        zone = self.context.asked.zone
        if zone is None:
            raise self._refused("a time zone, which {} does not print: give --tz")
        pc = arrow_compute()
        times = pc.utf8_trim(table.columns["time"], " \t")
        if "date" not in table.columns:
            return self._dated(times, zone)
        dashed = pc.replace_substring_regex(table.columns["date"], r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3")
        return iso_instants(pc.binary_join_element_wise(dashed, times, " "), zone)[0]

    def _dated(self, times: pa.Array, zone: tzinfo) -> NDArray[np.int64]:
        """Count days: a jump back over half a day is a midnight."""
        pc = arrow_compute()
        of_day, _ = iso_instants(pc.binary_join_element_wise("1970-01-01", times, " "), UTC)
        is_time = (of_day >= 0) & (of_day < DAY_NS)
        if not is_time.any():
            return np.full(len(times), NO_INSTANT)
        known = of_day[is_time]
        day, before_ns = self._last or self._start(zone, int(known[0]))
        days = day + np.cumsum(np.diff(known, prepend=before_ns) < -HALF_A_DAY_NS)
        self._last = int(days[-1]), int(known[-1])
        instants = np.full(len(times), NO_INSTANT)
        written = np.datetime_as_string(days.astype("datetime64[D]")).tolist()
        clock = times.filter(pa.array(is_time))
        instants[is_time] = iso_instants(pc.binary_join_element_wise(pa.array(written), clock, " "), zone)[0]
        return instants

    def _start(self, zone: tzinfo, first_ns: int) -> tuple[int, int]:
        """Return the day of the first time, that nearest to when the log starts, and that time."""
        start_ns = self.context.asked.start_ns
        if start_ns is None:
            raise self._refused("the day on which the log starts, which {} does not print: give --start")
        start = datetime.fromtimestamp(start_ns // NANOSECONDS_PER_SECOND, UTC).astimezone(zone)
        since_midnight = start.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        start_of_day_ns = since_midnight.seconds * NANOSECONDS_PER_SECOND
        day = since_midnight.days - round((first_ns - start_of_day_ns) / DAY_NS)
        return day, first_ns

    def _refused(self, expected: str) -> Exception:
        return self.context.refused("column 'time'", expected=expected.format(self.tool), got="none")
