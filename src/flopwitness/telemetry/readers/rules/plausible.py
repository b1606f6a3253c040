"""Power against what the board can draw: beyond reach is no measurement, a short excess is real.

Reports: github.com/sustainable-computing-io/kepler/issues/1049 and issues/1344.
"""

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.physics.counters import EXCESS_RATIO
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.products import known_chip
from flopwitness.telemetry.readers.rules.altered import without_values

POWERS = ("power_watts", "power_instant_watts")
LIMIT = "power_limit_watts"


def without_impossible_power(piece: Trace, notes: Notes) -> Trace:
    """Return a piece without power above ``EXCESS_RATIO`` times the board's limit; notes ``quarantined``.

    The limit is that of the chip, or the one that the file gives, whichever is higher: a limit may be set
    lower than what the board is built for. Where neither is known nothing is judged here.
    """
    most = _most_watts(piece)
    if most is None:
        return piece
    taken = {name: piece[name] > most for name in POWERS if name in piece}
    for name, is_out in taken.items():
        what = f"values of {name} of {piece.device.uuid} are above {most:.0f} W, beyond this board"
        notes.count("quarantined", f"{what}, and were taken out", n=int(is_out.sum()), subject=name)
    return without_values(piece, taken)


def _most_watts(piece: Trace) -> float | None:
    limits = piece.column(LIMIT)
    chip = known_chip(piece.device)
    known = [] if chip is None else [chip.power_limit_watts]
    if np.isfinite(limits).any():
        known.append(float(np.nanmax(limits)))
    return max(known) * EXCESS_RATIO if known and max(known) > 0 else None
