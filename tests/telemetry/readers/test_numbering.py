"""Who the rows of a table belong to."""

import numpy as np
import pyarrow as pa

from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.numbering import NOBODY, Numbering
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.tables import Table


def table(**columns: list[str]) -> Table:
    """Return rows of text cells."""
    arrays = {name: pa.array(cells, pa.string()) for name, cells in columns.items()}
    return Table(tuple(columns), arrays, np.arange(len(next(iter(columns.values())))))


def numbering(*names: str) -> Numbering:
    """Return a numbering of an empty capture."""
    return Numbering(Context(Input.of_bytes(b"", "x")), names, product="name", indexes=("index",))


def test_the_best_name_is_the_key():
    """A UUID is taken before an index, which can change at each boot."""
    owners = numbering("uuid", "index")

    found = owners.of(
        table(uuid=["GPU-b", "GPU-a", "GPU-b"], index=["0", "1", "1"], name=["NVIDIA H200"] * 3)
    )

    assert found.tolist() == [0, 1, 0]
    assert [(device.uuid, device.chip) for device in owners.known.values()] == [
        ("GPU-b", "H200-SXM"),
        ("GPU-a", "H200-SXM"),
    ]


def test_a_row_that_lost_its_uuid_is_known_by_the_index_seen_beside_it():
    """A GPU that is lost says so in every cell but its index."""
    owners = numbering("uuid", "index")
    owners.of(table(uuid=["GPU-a", "GPU-b"], index=["0", "1"]))

    assert owners.of(table(uuid=["[GPU is lost]"], index=["1"])).tolist() == [1]


def test_a_row_that_names_nobody_is_nobodys():
    """Nor is a text in a column of indexes a device."""
    assert numbering("index").of(table(index=["", "MIG", "[N/A]", "3"])).tolist() == [
        NOBODY,
        NOBODY,
        NOBODY,
        0,
    ]
