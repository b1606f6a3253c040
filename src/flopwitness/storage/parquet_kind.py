"""Whose Parquet a file is: ours carries our metadata, that of others does not."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from flopwitness.core.errors import BadInputError
from flopwitness.storage.atomic import reason
from flopwitness.storage.recordings import METADATA_KEY


def is_recording(path: Path) -> bool:
    """Say whether a Parquet file is a recording of ours.

    Raises
    ------
    BadInputError
        When it is no readable Parquet file.
    """
    try:
        return METADATA_KEY in (pq.read_metadata(path).metadata or {})
    except (pa.ArrowException, OSError) as error:
        got = reason(error) if isinstance(error, OSError) else str(error)
        raise BadInputError(str(path), "", expected="a readable Parquet recording", got=got) from error
