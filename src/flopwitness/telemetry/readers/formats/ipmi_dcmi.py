"""``ipmitool dcmi power reading`` and FreeIPMI's ``ipmi-dcmi``, once or in a loop: power of the whole node.

A block a reading: the power now, figures over a sampling period, a stamp, and whether measuring is on.
Where it is off, or the stamp is of 1970, a controller prints numbers that are none. A stamp has no zone
unless it ends in UTC; where the log was reduced to the lines of power, the user says start and period.

Sources: ipmitool, ``lib/ipmi_dcmi.c``; FreeIPMI, manual of ``ipmi-dcmi``; openbmc/phosphor-host-ipmid,
issue 167.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC

import numpy as np
from numpy.typing import NDArray

from flopwitness.telemetry.readers.clocks import NO_INSTANT, written_instants
from flopwitness.telemetry.readers.columns import numeric_channels
from flopwitness.telemetry.readers.counted import counted_instants
from flopwitness.telemetry.readers.fields import plain
from flopwitness.telemetry.readers.json_text import number_of
from flopwitness.telemetry.readers.reading import NODE_POWER, Context, Format, Head, Readings

LABELS = {
    "instantaneous power reading": "power",
    "current power": "power",
    "ipmi timestamp": "stamp",
    "time stamp": "stamp",
    "power reading state is": "state",
    "power measurement": "state",
}
"""ipmitool's words and FreeIPMI's."""

UNITS = ("watts", "watt")
ACTIVE = frozenset({"activated", "active"})
STAMPS = ("%a %b %d %H:%M:%S %Y", "%m/%d/%Y %H:%M:%S", "%m/%d/%y %H:%M:%S", "%m/%d/%Y - %H:%M:%S")
ZONES = (" UTC", " GMT")
FIRST_REAL_NS = 86_400_000_000_000 * 365
"""Stamps of 1970 are those of a controller whose clock was never set."""

LONGEST_CELL = 100
"""No reading or stamp is longer; patterns are slow on a line of a hundred thousand blanks."""

Block = dict[str, str]


def claims(head: Head) -> bool:
    """Say whether a head has a line with a node's power as these tools print it."""
    for line in head.lines:
        label, colon, value = line.partition(":")
        if colon and LABELS.get(label.strip().lower()) == "power" and value.strip().lower().endswith(UNITS):
            return True
    return False


def parse(context: Context) -> Iterator[Readings]:
    """Yield the readings, all at once."""
    blocks = _blocks(context)
    tells_state = any("state" in block for block in blocks)
    if tells_state:  # a log that was cut may lack the last word on its last reading
        context.notes.count("bad-row", "readings lack their state", n=sum("state" not in b for b in blocks))
        blocks = [block for block in blocks if "state" in block]
    time_ns = _instants(context, blocks)
    watts = np.array([_watts(context, block) for block in blocks], dtype=np.float64)
    is_unset = (time_ns != NO_INSTANT) & (time_ns < FIRST_REAL_NS)
    context.notes.count("missing-values", "readings are stamped 1970: no answer", n=int(is_unset.sum()))
    keep = (time_ns != NO_INSTANT) & ~is_unset
    context.notes.count("bad-row", "readings have no usable time", n=int((time_ns == NO_INSTANT).sum()))
    context.notes.say(NODE_POWER)
    channels = numeric_channels(context, {"power": watts[keep]}, {"power": plain("node_power_watts")})
    if keep.any():
        index = np.zeros(int(keep.sum()), dtype=np.int64)
        yield Readings({0: context.device("node")}, index, time_ns[keep], channels)


def _blocks(context: Context) -> list[Block]:
    whole = context.input.whole()
    lines = whole.text.splitlines()
    if whole.is_cut and lines:
        context.notes.count("truncated", "line without an end was given up: the file was cut")
        lines = lines[:-1]
    blocks: list[Block] = []
    for line in lines:
        label, _, value = line.partition(":")
        what = LABELS.get(label.strip().lower())
        if what == "power":
            blocks.append({})
        if what and blocks:
            blocks[-1].setdefault(what, value.strip()[:LONGEST_CELL])
    return blocks


def _instants(context: Context, blocks: Sequence[Block]) -> NDArray[np.int64]:
    if not any("stamp" in block for block in blocks):
        return counted_instants(context, np.arange(len(blocks)), "this log")
    stamps = [block.get("stamp", "") for block in blocks]
    is_utc = np.array([stamp.endswith(ZONES) for stamp in stamps])
    walls = [stamp[: -len(ZONES[0])] if stamp.endswith(ZONES) else stamp for stamp in stamps]
    in_utc, _ = written_instants(walls, STAMPS, UTC)
    is_naive = ~is_utc & (in_utc != NO_INSTANT) & (in_utc >= FIRST_REAL_NS)
    if context.asked.zone is None and is_naive.any():
        expected = "a time zone, which IPMI does not tell: give --tz"
        raise context.refused("the stamps", expected=expected, got="none")
    local, _ = written_instants(walls, STAMPS, context.asked.zone)
    return np.where(is_utc | (context.asked.zone is None), in_utc, local)


def _watts(context: Context, block: Block) -> float:
    if block.get("state", "activated").lower() not in ACTIVE:
        context.notes.count("missing-values", "readings were taken while measuring was off")
        return np.nan
    text = block["power"].lower()
    watts = number_of(text.removesuffix("s").removesuffix("watt")) if text.endswith(UNITS) else None
    if watts is None:
        context.notes.count("bad-cell", "readings are no number of watts")
        return np.nan
    return watts


FORMAT = Format(name="ipmi-dcmi", title="IPMI DCMI power readings", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
