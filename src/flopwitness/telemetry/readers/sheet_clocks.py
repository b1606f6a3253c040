"""The times of a small CSV log, whichever way it writes them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.cells import arrow_compute, read_numbers
from flopwitness.telemetry.readers.clocks import NO_INSTANT, iso_instants, seconds_to_ns
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.sheet import Clock, Sheet
from flopwitness.telemetry.readers.tables import Table

EPOCH_FROM_SECONDS = 1e9
"""Numbers from here on are seconds since 1970 (September 2001): no log runs for 31 years."""

NAMED_ZONES = {"PST": "-08:00", "PDT": "-07:00", "UTC": "+00:00", "GMT": "+00:00"}
"""Letters that mean one offset in the logs that use them; others, such as CST, mean several."""

NAMED = r"^(?P<wall>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?P<zone>[A-Z]{3})$"
DATED = r"\d{4}[-/]\d\d[-/]\d\d"


@dataclass(frozen=True, slots=True)
class Times:
    """Reads the times of one log.

    Attributes
    ----------
    context : Context
        Holds the zone and the start that the user gave.
    sheet : Sheet
        Names the column.
    clock : Clock
        How it is written, once known.
    origin_seconds : float
        What the first sample's time reads, of a shifted clock; else 0.
    """

    context: Context
    sheet: Sheet
    clock: Clock
    origin_seconds: float = 0.0

    def of(self, table: Table) -> NDArray[np.int64]:
        """Return the instants of rows; ``NO_INSTANT`` where a cell cannot be read.

        Raises
        ------
        BadInputError
            When the zone, or when the log starts, is not known.
        """
        text = table.columns[self.sheet.time]
        if self.clock is Clock.EPOCH:
            return seconds_to_ns(read_numbers(text).values)
        if self.clock in {Clock.RELATIVE, Clock.SHIFTED}:
            return self._since_start(text)
        return self._zoned(_with_offsets(text) if self.clock is Clock.NAMED_ZONE else text)

    def _since_start(self, text: pa.Array) -> NDArray[np.int64]:
        start_ns = self.context.asked.start_ns
        if start_ns is None:
            expected = f"when the log starts, since its time is {self.clock.value}: give --start"
            raise self.context.refused(f"column {self.sheet.time!r}", expected=expected, got="none")
        elapsed_ns = seconds_to_ns(read_numbers(text).values - self.origin_seconds)
        return np.where(elapsed_ns == NO_INSTANT, NO_INSTANT, elapsed_ns + start_ns)

    def _zoned(self, text: pa.Array) -> NDArray[np.int64]:
        time_ns, lacks_zone = iso_instants(text, self.context.asked.zone)
        if lacks_zone:
            expected = "stamps with a time zone, or --tz"
            raise self.context.refused(f"column {self.sheet.time!r}", expected=expected, got="none")
        return time_ns


def times_of(context: Context, sheet: Sheet, rows: Callable[[Context], Iterator[Table]]) -> Times:
    """Return how a log's times are read; looks through the whole file first where only that tells."""
    if sheet.clock is Clock.BY_CELLS:
        return Times(context, sheet, _told_by_cells(context, sheet, rows))
    if sheet.clock is Clock.SHIFTED and context.asked.start_ns is not None:
        message = "times of this log are shifted by an unknown amount; its first sample was put at --start"
        context.notes.say(Finding("time-shifted", message))
        looked = rows(Context(context.input, context.asked, Notes()))
        firsts = (_least(read_numbers(table.columns[sheet.time]).values) for table in looked)
        return Times(context, sheet, sheet.clock, min(firsts, default=0.0))
    return Times(context, sheet, sheet.clock)


def _told_by_cells(context: Context, sheet: Sheet, rows: Callable[[Context], Iterator[Table]]) -> Clock:
    """Return the clock that most cells of the file speak for; the others will be bad rows."""
    counts = {Clock.ISO: 0, Clock.RELATIVE: 0, Clock.EPOCH: 0}
    for table in rows(Context(context.input, context.asked, Notes())):
        text = table.columns[sheet.time]
        values = read_numbers(text).values
        is_dated = arrow_compute().match_substring_regex(text, DATED)
        counts[Clock.ISO] += int(is_dated.to_numpy(zero_copy_only=False).astype(np.bool_).sum())
        counts[Clock.EPOCH] += int((values >= EPOCH_FROM_SECONDS).sum())
        counts[Clock.RELATIVE] += int((values < EPOCH_FROM_SECONDS).sum())
    clock = max(counts, key=lambda each: counts[each])
    message = f"times were read as {clock.value}, as the cells of column {sheet.time!r} are"
    context.notes.say(Finding("clock-inferred", message, Severity.NOTE))
    return clock


def _least(values: NDArray[np.float64]) -> float:
    return float(np.nanmin(values)) if not np.isnan(values).all() else np.inf


def _with_offsets(text: pa.Array) -> pa.Array:
    """Replace the letters of a zone by its offset; letters that mean several make the cell unreadable."""
    pc = arrow_compute()
    cells = pc.utf8_trim(text, ' \t\r"')
    parts = pc.extract_regex(cells, NAMED)
    letters = pc.fill_null(pc.struct_field(parts, "zone"), "")
    offsets = pc.if_else(pc.is_in(letters, value_set=pa.array(list(NAMED_ZONES))), letters, None)
    for name, offset in NAMED_ZONES.items():
        offsets = pc.if_else(pc.equal(letters, name), offset, offsets)
    stamps = pc.binary_join_element_wise(pc.struct_field(parts, "wall"), offsets, "")
    return pc.fill_null(stamps, "")
