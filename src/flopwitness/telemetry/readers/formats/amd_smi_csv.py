"""``rocm-smi --csv`` and ``amd-smi monitor|metric --csv``: a row a GPU and look.

rocm-smi's columns are its labels, with units, behind ``device``; amd-smi's are names without, behind
``gpu`` and, where it watches, ``timestamp`` in epoch seconds. Without that, the user says start and period.
In a log of several looks the header may come again. Meanings: ``flopwitness.telemetry.readers.amd_fields``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.readers.amd_fields import LABELS, METRIC, MONITOR, note_power
from flopwitness.telemetry.readers.cells import arrow_compute
from flopwitness.telemetry.readers.clocks import iso_instants, seconds_to_ns
from flopwitness.telemetry.readers.columns import channels_of, keys_of, note_columns
from flopwitness.telemetry.readers.counted import counted_instants
from flopwitness.telemetry.readers.fields import Field
from flopwitness.telemetry.readers.header import header_of
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Layout, Table, tables, without_rows

if TYPE_CHECKING:
    from flopwitness.core.device import Device

CARD = re.compile(r"^(?:card|gpu\[?)?(\d{1,4})\]?$", re.IGNORECASE)


def claims(head: Head) -> bool:
    """Say whether a head is a header of rocm-smi's labels or amd-smi's names."""
    names = head.header()
    if "device" in names:
        return any(name in LABELS for name in names)
    return "gpu" in names and sum(name in METRIC for name in names) >= 2 and "power_w" not in names


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings, block by block."""
    names = header_of(context)
    by = "device" if "device" in names else "gpu"
    fields = _fields(names, by)
    known = dict.fromkeys((*fields, by, "timestamp"))
    note_columns(context, names, known)
    cards = _Cards(context)
    for table in tables(context, Layout(names, wanted=known, is_quoted=True)):
        numbers = cards.numbers(table, by)
        rows = without_rows(table, numbers < 0)
        numbers = numbers[numbers >= 0]
        keys = keys_of(context, rows, index=numbers, time_ns=_instants(context, rows, cards.places(numbers)))
        channels = channels_of(context, rows, fields, keys.keep)
        note_power(context, fields, channels)
        if len(keys.index):
            yield Readings(cards.known, keys.index, keys.time_ns, channels)


class _Cards:
    """Numbers cards as they come up, and counts the looks at each."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._looks: dict[int, int] = {}
        self.known: dict[int, Device] = {}

    def numbers(self, table: Table, by: str) -> NDArray[np.int64]:
        """Return each row's card; -1 where it names none, which is counted unless it is the header again."""
        pc = arrow_compute()
        encoded = pc.dictionary_encode(pc.utf8_trim_whitespace(table.columns[by]))
        words = encoded.dictionary.to_pylist()
        known = np.array([self._number(word) for word in words] or [-1], dtype=np.int64)
        found: NDArray[np.int64] = known[encoded.indices.to_numpy(zero_copy_only=False)]
        is_header = np.array([word.strip('"').lower() == by for word in words] or [False])
        is_bad = (found < 0) & ~is_header[encoded.indices.to_numpy(zero_copy_only=False)]
        self._context.notes.count(
            "bad-row", "rows name no GPU and were left out", n=int(is_bad.sum()), line=table.line(is_bad)
        )
        return found

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many looks at its card came before each row."""
        places = np.zeros(len(numbers), dtype=np.int64)
        for number in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == number)
            before = self._looks.get(number, 0)
            places[rows] = before + np.arange(len(rows))
            self._looks[number] = before + len(rows)
        return places

    def _number(self, word: str) -> int:
        match = CARD.match(word.strip('"'))
        if not match:
            return -1
        number = int(match[1])
        self.known.setdefault(number, self._context.device(number))
        return number


def _fields(names: tuple[str, ...], by: str) -> Mapping[str, Field]:
    table = LABELS if by == "device" else MONITOR if "power_usage" in names else METRIC
    return {name: table[name] for name in names if name in table}


def _instants(context: Context, table: Table, places: NDArray[np.int64]) -> NDArray[np.int64]:
    if "timestamp" not in table.columns:
        return counted_instants(context, places, "this tool")
    stamps, lacks_zone = iso_instants(table.columns["timestamp"], context.asked.zone)
    if lacks_zone:
        raise context.refused("column 'timestamp'", expected="a time zone: give --tz", got="none")
    numbers = table.numbers("timestamp").values
    return np.where(np.isfinite(numbers), seconds_to_ns(numbers), stamps)


FORMAT = Format(name="amd-smi-csv", title="rocm-smi or amd-smi CSV", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
