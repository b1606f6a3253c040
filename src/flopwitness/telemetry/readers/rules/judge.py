"""The door to the rules: what was read in, the same without what is no measurement out.

One kind of fault a file, one rule for every format; each names the reports behind it. Rules of a trace judge
it whole where the recording fits in memory, piece by piece where it does not.
"""

from collections.abc import Callable, Sequence
from functools import partial

from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.counters import without_counter_glitches
from flopwitness.telemetry.readers.rules.events import with_xids_noted
from flopwitness.telemetry.readers.rules.frozen import without_frozen_counter
from flopwitness.telemetry.readers.rules.links import without_silent_links
from flopwitness.telemetry.readers.rules.lost import without_lost_end
from flopwitness.telemetry.readers.rules.plausible import without_impossible_power
from flopwitness.telemetry.readers.rules.profiling import note_profiling
from flopwitness.telemetry.readers.rules.stale import RELAYED_CHANNELS, without_stale_rows
from flopwitness.telemetry.readers.rules.sums import note_conservation

Rule = Callable[[Trace, Notes], Trace]

RULES: tuple[Rule, ...] = (
    without_impossible_power,
    without_counter_glitches,
    without_stale_rows,
    without_frozen_counter,
)
"""Take values out, in the order in which they are applied: a source that stopped is no frozen counter."""

RELAYED_RULES: tuple[Rule, ...] = (
    without_impossible_power,
    without_counter_glitches,
    partial(without_stale_rows, least_channels=RELAYED_CHANNELS),
    without_frozen_counter,
)
"""The same for what a service passed on."""

WHOLE_RULES: tuple[Rule, ...] = (without_lost_end, with_xids_noted)
"""Need to see where a trace begins and ends; applied before the others."""


def judged(piece: Trace, notes: Notes, *, is_relayed: bool = False) -> Trace:
    """Return a piece with everything that is no measurement as NaN; each kind of it is noted.

    Parameters
    ----------
    piece : Trace
        Some samples of one device.
    notes : Notes
        Takes what was taken out.
    is_relayed : bool
        Whether a service stands between the device and the samples, such as an exporter.
    """
    for rule in RELAYED_RULES if is_relayed else RULES:
        piece = rule(piece, notes)
    return piece


def judged_whole(traces: Sequence[Trace], notes: Notes, *, is_relayed: bool = False) -> tuple[Trace, ...]:
    """Return the traces of one recording, judged each and together; a device without any answer is gone."""
    kept: list[Trace] = []
    for trace in traces:
        for rule in WHOLE_RULES:
            trace = rule(trace, notes)  # noqa: PLW2901  each rule takes what the one before left
        if len(trace):
            kept.append(trace)
    note_profiling(kept, notes)
    found = without_silent_links([judged(trace, notes, is_relayed=is_relayed) for trace in kept], notes)
    note_conservation(found, notes)
    return found
