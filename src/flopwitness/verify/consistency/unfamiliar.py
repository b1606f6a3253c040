"""Work that no fitted recording holds the like of: its power cannot be judged, and that is worth a note."""

from collections.abc import Iterator

import numpy as np

from flopwitness.verify.consistency.blocks import TERM_NAMES, Blocks
from flopwitness.verify.consistency.deviation import Deviation
from flopwitness.verify.consistency.load import IDLE_WATTS, LOADED_WATTS
from flopwitness.verify.consistency.regression import Regression

CODE = "unfamiliar-work"

LIMIT = 0.5
"""Share of the loaded blocks that lie where no fitted work does."""

MIN_BLOCKS = 2


def unfamiliar_deviations(blocks: Blocks, subject: str, power: Regression) -> Iterator[Deviation]:
    """Say how much of a device's work is unlike all fitted work, and in which signal most.

    Other number formats, other pipes and floods of links are work of that kind. It is no fault: a note.
    """
    loaded = blocks.chosen(blocks.watts - IDLE_WATTS > LOADED_WATTS)
    if len(loaded) < MIN_BLOCKS:
        return
    strange = loaded.chosen(~power.is_familiar(loaded.terms))
    share = len(strange) / len(loaded)
    if not len(strange):
        return
    apart = np.abs(np.where(power.spread > 0, power.standardised(strange.terms), np.inf)).max(axis=0)
    apart = np.where((power.spread == 0) & (strange.terms.max(axis=0) <= power.middle + 1e-3), 0.0, apart)
    name = TERM_NAMES[int(apart.argmax())].split(":")[0]
    sentence = (
        f"GPU {subject}: {len(strange)} of {len(loaded)} loaded blocks are unlike all fitted work, "
        f"in {name} most: their power is not judged"
    )
    span = (int(strange.start_ns[0]), int(strange.stop_ns[-1]))
    yield Deviation(CODE, subject, *span, share, LIMIT, sentence, is_hint=True)
