"""The idle power of each board, kept up to date while a daemon runs, and across its restarts."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.trace import Trace, joined
from flopwitness.detect.states import State, sample_states
from flopwitness.estimate.features.idle import SAME_CLOCK_RATIO
from flopwitness.storage.documents import read_document, write_document
from flopwitness.storage.nouns import rebuilt

KIND = "flopwitness-idle-baselines"
VERSION = 1
MAX_SAMPLES = 6000
"""The latest idle samples of a board that its median is taken of: ten minutes at 10 Hz."""

N_TOGETHER = 100
"""Samples of a board that are looked at together: ten seconds at 10 Hz, at the price of one."""

POWER = ("power_instant_watts", "power_watts")


class IdleBaselines:
    """Median idle power of each board in the lowest clock state that it was seen in.

    The same rule as ``flopwitness.estimate.features.idle.idle_baseline``, on the latest samples alone.
    """

    def __init__(self) -> None:
        self._idle: dict[str, NDArray[np.float64]] = {}
        self._waiting: dict[str, list[Trace]] = {}

    def observe(self, piece: Trace) -> None:
        """Take samples; those seen idle count."""
        waiting = self._waiting.setdefault(piece.device.uuid, [])
        waiting.append(piece)
        if sum(map(len, waiting)) >= N_TOGETHER:
            self._look(piece.device.uuid)

    def watts(self, uuids: Iterable[str]) -> dict[str, float]:
        """Return the idle power of devices; NaN where one was never seen idle."""
        self._look_at_all()
        nothing = np.full((1, 2), np.nan)
        return {uuid: float(np.median(self._idle.get(uuid, nothing)[:, 0])) for uuid in uuids}

    def save(self, path: Path) -> None:
        """Write the samples that the medians are taken of, whole or not at all."""
        self._look_at_all()
        boards = {
            uuid: {"watts": rows[:, 0].tolist(), "clock_hertz": [_or_none(hertz) for hertz in rows[:, 1]]}
            for uuid, rows in self._idle.items()
        }
        write_document(path, {"format": KIND, "version": VERSION, "boards": boards}, replace=True)

    def load(self, path: Path) -> None:
        """Go on from what was saved; ``BadInputError`` where it is nothing of ours."""
        content = read_document(path, kind=KIND, version=VERSION)
        self._idle |= rebuilt(str(path), "boards", lambda: _boards(content["boards"]))

    def _look_at_all(self) -> None:
        for uuid in tuple(self._waiting):
            self._look(uuid)

    def _look(self, uuid: str) -> None:
        """Take the idle ones out of the samples that wait."""
        whole = joined(self._waiting.pop(uuid))
        power = next((name for name in POWER if name in whole), POWER[1])
        rows = np.stack([whole.column(power), whole.column("sm_clock_hertz")], axis=1)
        rows = rows[(sample_states(whole) == State.IDLE) & np.isfinite(rows[:, 0])]
        if len(rows):
            held = self._idle.get(uuid)
            rows = rows if held is None else np.concatenate([held, rows])
            self._idle[uuid] = _in_lowest_clock(rows)[-MAX_SAMPLES:]


def _boards(content: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    return {
        uuid: np.array([held["watts"], held["clock_hertz"]], dtype=np.float64).T
        for uuid, held in content.items()
        if held["watts"]
    }


def _in_lowest_clock(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    clock = rows[:, 1]
    if not np.isfinite(clock).any():
        return rows
    lowest: NDArray[np.float64] = rows[clock <= float(np.nanmin(clock)) * SAME_CLOCK_RATIO]
    return lowest


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
