"""``dcgmi dmon``: one row an entity and round, fields under their short names, no time.

A row begins with the entity, two words (``GPU 0``, on newer versions also ``GPU-I 3`` and ``GPU-CI 4`` for
slices); entities come in any order, the first rows have no answer. Doubles have three decimals. ``POWER`` is
W, ``TOTEC`` mJ, utilisations ``GPUTL`` and ``MCUTL`` percent, other activities 0..1, rates bytes a second;
the unit line below the header may be blank. ``-d`` is in milliseconds, a second where it is left out; ``-e``
lists field numbers. A cell that somebody annotated, ``20000000000(18.63GB/s)``, is read up to the bracket.

Sources: NVIDIA DCGM, ``dcgmi/DeviceMonitor.cpp`` and ``dcgmlib/src/dcgm_fields.cpp``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.aligned import Aligned, aligned_tables, header_names, tabbed
from flopwitness.telemetry.readers.cells import arrow_compute
from flopwitness.telemetry.readers.columns import channels_of, keys_of, note_columns
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.echoed import echoed_words, option, seconds_of, timed_rounds
from flopwitness.telemetry.readers.fields import Field
from flopwitness.telemetry.readers.numbering import Numbering
from flopwitness.telemetry.readers.reading import Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Table
from flopwitness.telemetry.readers.ticks import Rounds
from flopwitness.telemetry.samplers.dcgm_fields import FIELDS as DCGM_FIELDS
from flopwitness.telemetry.samplers.dcgm_fields import DcgmField

TOOL = "dcgmi dmon"
USUAL_SECONDS = 1.0
MILLISECONDS_PER_SECOND = 1000.0


def _field(known: DcgmField) -> Field:
    """Return a field of DCGM; a division by 100 or 1000 is exact where a multiplication is not."""
    if known.factor < 1:
        return Field(known.channel, divisor=round(1 / known.factor))
    return Field(known.channel, multiplier=known.factor)


FIELDS: Mapping[str, Field] = MappingProxyType({field.short.lower(): _field(field) for field in DCGM_FIELDS})
"""By short name, lower case."""

SHORT_BY_NUMBER = {str(field.number): field.short.lower() for field in DCGM_FIELDS}
SHORT_BY_NAME = {f"DCGM_FI_{name}": field.short.lower() for field in DCGM_FIELDS for name in field.names}
KNOWN = dict.fromkeys(("kind", "entity", "xider", "nbwlt", "pcie_replay"))
"""Columns without a channel: an error code, and a bandwidth of ambiguous unit (NVIDIA/DCGM, issue 231)."""

LEADING = ("kind", "entity")
OF_THE_BOARD = ("power_watts", "power_instant_watts", "energy_joules_total")
"""What a slice cannot have of its own: the tool repeats the board's."""

SKIPPED = re.compile(rb"^(?:#|>|\$|dcgmi|ID\b)[^\n]*", re.MULTILINE | re.IGNORECASE)
ROW = re.compile(r"^GPU(-C?I)?\s+\d+\s")
HEADER = re.compile(rb"^#Entity(?=[\t\n])[^\n]*", re.MULTILINE)


def claims(head: Head) -> bool:
    """Say whether a head has dcgmi's header, its command, or its rows."""
    is_headed = HEADER.search(tabbed(head.data[:4096])) is not None
    first = head.lines[:5]
    return is_headed or any(TOOL in line for line in first[:1]) or any(ROW.match(line) for line in first[:2])


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings of a log."""
    head = Head.of(context.input.head())
    words = echoed_words(head, TOOL)
    names = _names(context, head, words)
    note_columns(context, names, {**KNOWN, **FIELDS})
    stated = seconds_of(option(words, "-d", "--delay"), divisor=MILLISECONDS_PER_SECOND)
    numbering, rounds = Numbering(context, ("label",)), Rounds()
    aligned = Aligned(names, {*FIELDS, *LEADING}, b"#Entity", SKIPPED, LEADING)
    for bare in aligned_tables(context, aligned):
        table = _labelled(bare)
        index = numbering.of(table)
        places = np.zeros(len(index), dtype=np.int64)
        places[index >= 0] = rounds.of(index[index >= 0])
        time_ns = timed_rounds(context, places, TOOL, stated_seconds=stated, usual_seconds=USUAL_SECONDS)
        keys = keys_of(context, table, index=index, time_ns=time_ns, is_device=index >= 0)
        if keys.keep.any():
            channels = channels_of(context, table, FIELDS, keys.keep)
            _keep_boards_apart(context, table, keys.keep, channels)
            yield Readings(numbering.known, keys.index, keys.time_ns, channels)


def _names(context: Context, head: Head, words: Sequence[str]) -> tuple[str, ...]:
    """Return the columns: of the header, else of the ``-e`` list in the echoed command."""
    found = HEADER.search(tabbed(head.data))
    if found is not None:
        return (*LEADING, *header_names(found.group())[1:])
    listed = option(tuple(words), "-e", "--field-id")
    if listed is None:
        expected = "a header line, or the command with its -e list: the log does not say what its columns are"
        raise context.refused("line 1", expected=expected, got=shown(head.first))
    asked = listed.split(",")
    return (*LEADING, *(SHORT_BY_NUMBER.get(one, SHORT_BY_NAME.get(one, one)).lower() for one in asked))


def _labelled(table: Table) -> Table:
    """Add what names the device: the number of a whole GPU, kind and number of a slice."""
    pc = arrow_compute()
    kinds, numbers = (pc.utf8_upper(table.columns[name]) for name in LEADING)
    is_number = pc.match_substring_regex(numbers, r"^\d{1,6}$")
    is_kind = pc.match_substring_regex(kinds, r"^GPU(-C?I)?$")
    slices = pc.binary_join_element_wise(kinds, numbers, " ")
    label = pc.if_else(pc.equal(kinds, "GPU"), numbers, slices)
    label = pc.if_else(pc.and_(is_number, is_kind), label, "")
    return Table(table.names, {**table.columns, "label": label}, table.lines)


def _keep_boards_apart(
    context: Context, table: Table, keep: NDArray[np.bool_], channels: dict[str, NDArray[np.float64]]
) -> None:
    """Take the board's power out of the rows of slices: it would count once for each."""
    is_slice = arrow_compute().starts_with(table.columns["label"], "GPU-")
    rows = is_slice.to_numpy(zero_copy_only=False).astype(np.bool_)[keep]
    for name in OF_THE_BOARD:
        if rows.any() and name in channels:
            channels[name] = np.where(rows, np.nan, channels[name])
            message = f"{name} of a slice is that of its whole board and was set aside"
            context.notes.say(Finding("slice-of-board", message, Severity.NOTE, subject=name))


FORMAT = Format(name="dcgmi-dmon", title="dcgmi dmon", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
