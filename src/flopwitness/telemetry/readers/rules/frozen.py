"""An energy counter that stands while power flows: distrusted as a whole, so that power is integrated.

Reports: github.com/ROCm/amdsmi/issues/38, github.com/ROCm/rocm_smi_lib/issues/180,
github.com/ml-energy/zeus/issues/113.
"""

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.physics.counters import standing
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.altered import without_values

COUNTER = "energy_joules_total"
POWERS = ("power_watts", "power_instant_watts")


def without_frozen_counter(piece: Trace, notes: Notes) -> Trace:
    """Return a piece without its energy counter where that once stood under load; notes ``counter-frozen``.

    A counter that stood and goes on counting has lost what flowed meanwhile, so no difference across the
    stand is true; one that makes good for it afterwards was refreshed late and stays.
    """
    values = piece.column(COUNTER)
    known = np.isfinite(values)
    if int(known.sum()) < 2:
        return piece
    is_fresh = np.zeros(int(known.sum()), dtype=np.bool_)
    for name, column in piece.channels.items():
        if name != COUNTER:
            is_fresh[1:] |= np.abs(np.diff(column[known])) > 0  # a blank is no movement
    watts = max((piece.column(name) for name in POWERS), key=lambda column: int(np.isfinite(column).sum()))
    is_standing = standing(piece.seconds()[known], values[known], watts=watts[known], is_fresh=is_fresh)
    uuid = piece.device.uuid
    what = f"values of {COUNTER} of {uuid} stand still while power flows; the counter is not used"
    notes.count("counter-frozen", what, n=int(is_standing.sum()), subject=uuid)
    return without_values(piece, {COUNTER: known}) if is_standing.any() else piece
