"""GPUs that fell off the bus: their rows hold no reading, and none of the other GPUs is hidden by them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.finding import Finding, Severity
from flopwitness.telemetry.readers.cells import arrow_compute
from flopwitness.telemetry.readers.clocks import NO_INSTANT
from flopwitness.telemetry.readers.numbering import NOBODY, Numbering
from flopwitness.telemetry.readers.tables import Table

LOST = "is lost"
"""What NVIDIA's tools print for every field of a GPU that no longer answers (Xid 79): ``[GPU is lost]``."""


@dataclass
class LostGpus:
    """Knows the GPUs of a log that are lost, and says so once for each.

    Parameters
    ----------
    numbering : Numbering
        Knows the devices.
    """

    numbering: Numbering
    _told: set[int] = field(default_factory=set)

    def rows(
        self, table: Table, name: str, *, index: NDArray[np.int64], time_ns: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Say which rows a lost GPU printed.

        Parameters
        ----------
        table : Table
            The rows.
        name : str
            A column of readings: a lost GPU has none in any.
        index, time_ns : ndarray of shape (n_rows,), int64
            Whose each row is, and when.
        """
        is_lost = lost_cells(table, name)
        self.numbering.context.notes.count(
            "gpu-lost",
            "rows are of a lost GPU that no other column names",
            n=int((is_lost & (index == NOBODY)).sum()),
            line=table.line(is_lost & (index == NOBODY)),
            severity=Severity.ALARM,
        )
        for number in np.unique(index[is_lost]).tolist():
            if number != NOBODY and number not in self._told:
                self._told.add(number)
                stamps = time_ns[is_lost & (index == number) & (time_ns != NO_INSTANT)]
                self._say(number, int(stamps.min()) if len(stamps) else None)
        return is_lost

    def _say(self, number: int, since_ns: int | None) -> None:
        uuid = self.numbering.known[number].uuid
        message = f"{uuid} is lost: it no longer answered the driver; its samples end there"
        found = Finding("gpu-lost", message, Severity.ALARM, uuid, since_ns, since_ns)
        self.numbering.context.notes.say(found)


def lost_cells(table: Table, name: str) -> NDArray[np.bool_]:
    """Say in which rows a column holds the words of a lost GPU."""
    if name not in table.columns:
        return np.zeros(len(table), dtype=np.bool_)
    is_lost = arrow_compute().match_substring(table.columns[name], LOST)
    found: NDArray[np.bool_] = is_lost.to_numpy(zero_copy_only=False).astype(np.bool_)
    return found
