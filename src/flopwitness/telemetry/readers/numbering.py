"""Who the rows of a table belong to: devices are numbered as they come up, the best name first."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flopwitness.core.device import Device
from flopwitness.telemetry.readers.cells import MISSING_TOKENS, arrow_compute
from flopwitness.telemetry.readers.delimited import SHOWN_CHARACTERS
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.tables import Table

NOBODY = -1
"""Number of a row whose device nobody names."""

INDEX = re.compile(r"^\d{1,5}$", re.ASCII)

LONGEST_LABEL = 4 * SHOWN_CHARACTERS
"""A longer text names no device."""


@dataclass
class Numbering:
    """Numbers devices; a row that lacks the best name is known by another one that was seen beside it.

    Parameters
    ----------
    context : Context
        Makes the devices.
    names : sequence of str
        Columns that tell devices apart, the best first.
    product : str
        Column with the product; empty where there is none.
    host : str
        Column with the machine; empty where there is none.
    uuid : str
        Which of the names holds UUIDs.
    indexes : collection of str
        Which of them hold whole numbers; another label there names nobody.

    Attributes
    ----------
    known : dict of int to Device
        Every device that came up.
    """

    context: Context
    names: Sequence[str]
    product: str = ""
    host: str = ""
    uuid: str = "uuid"
    indexes: Collection[str] = ()
    known: dict[int, Device] = field(default_factory=dict)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)

    def of(self, table: Table) -> NDArray[np.int64]:
        """Return the number of each row's device, ``NOBODY`` where no column names one."""
        found = np.full(len(table), NOBODY, dtype=np.int64)
        here = [name for name in self.names if name in table.columns]
        for name in here:
            is_open = found == NOBODY
            if not is_open.any():
                break
            numbers, codes = self._labelled(table, name, here)
            found = np.where(is_open, numbers[codes], found)
        return found

    def _labelled(
        self, table: Table, name: str, here: Sequence[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of each label of a column, and which label each row has."""
        encoded = arrow_compute().dictionary_encode(arrow_compute().utf8_trim(table.columns[name], ' \t\r"'))
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        labels = encoded.dictionary.to_pylist()
        first = np.zeros(len(labels), dtype=np.int64)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        beside = self._beside(table, first, here)
        numbers = [
            self._number(name, label, {key: column[place] for key, column in beside.items()})
            for place, label in enumerate(labels)
        ]
        return np.array(numbers, dtype=np.int64), codes

    def _beside(
        self, table: Table, rows: NDArray[np.int64], here: Sequence[str]
    ) -> Mapping[str, Sequence[str]]:
        """Return what else the rows say of their device."""
        wanted = [name for name in (*here, self.product, self.host) if name in table.columns]
        taken = {name: table.columns[name].take(pa.array(rows)).to_pylist() for name in wanted}
        return {name: [str(cell).strip(' \t\r"') for cell in column] for name, column in taken.items()}

    def _number(self, name: str, label: str, beside: Mapping[str, str]) -> int:
        if not is_label(label) or (name in self.indexes and not INDEX.match(label)):
            return NOBODY
        if (name, label) in self._numbers:
            return self._numbers[name, label]
        number = len(self.known)
        self.known[number] = self.context.device(
            label,
            uuid=label if name == self.uuid else "",
            chip=beside.get(self.product, ""),
            host=beside.get(self.host, ""),
        )
        for key in self.names:
            if is_label(beside.get(key, "")):
                self._numbers.setdefault((key, beside[key]), number)
        self._numbers[name, label] = number
        return number


def is_label(text: str) -> bool:
    """Say whether a cell names a device.

    Examples
    --------
    >>> is_label("GPU-aaaa"), is_label("[GPU is lost]"), is_label("")
    (True, False, False)
    """
    return text.lower() not in MISSING_TOKENS and not text.startswith("[") and len(text) <= LONGEST_LABEL
