"""Free text line by line, block by block, taken apart by patterns without a loop over lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flopwitness.telemetry.readers.cells import arrow_compute
from flopwitness.telemetry.readers.inputs import Block
from flopwitness.telemetry.readers.reading import Context


@dataclass(frozen=True, slots=True, eq=False)
class TextLines:
    """Lines of a block that are not blank.

    Attributes
    ----------
    text : Arrow string array of shape (n_lines,)
        Without blanks and line ends around them.
    lines : ndarray of shape (n_lines,), int64
        Line numbers.
    """

    text: Any
    lines: NDArray[np.int64]


def text_lines(context: Context) -> Iterator[TextLines]:
    """Yield the lines of a file; a last line without an end is counted and left out, it may lack digits."""
    for block in context.input.blocks():
        found = _of_block(context, block)
        if len(found.lines):
            yield found


def extracted(text: Any, pattern: str) -> Mapping[str, Any]:
    """Return what the named groups of a pattern caught in each line; null where the pattern is not there.

    Examples
    --------
    >>> found = extracted(pa.array(["a=1", "b"]), r"a=(?P<number>[0-9]+)")
    >>> found["number"].to_pylist()
    ['1', None]
    """
    pc = arrow_compute()
    parts = pc.extract_regex(text, pattern)
    names = [field.name for field in parts.type]
    return {name: pc.struct_field(parts, name) for name in names}


def _of_block(context: Context, block: Block) -> TextLines:
    data = block.data
    if block.is_cut:
        context.notes.count("truncated", "line without an end was given up: the file was cut")
        data = data[: data.rfind(b"\n", 0, len(data) - 1) + 1]
    content = data if data.isascii() else data.decode(errors="replace").encode()
    stops = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == 10) + 1
    offsets = np.concatenate([[0], stops]).astype(np.int32)
    pc = arrow_compute()
    whole = pa.StringArray.from_buffers(len(stops), pa.py_buffer(offsets), pa.py_buffer(content))
    text = pc.ascii_trim_whitespace(whole)
    is_used = pc.greater(pc.binary_length(text), 0)
    rows = np.flatnonzero(is_used.to_numpy(zero_copy_only=False))
    return TextLines(text.filter(is_used), rows + block.first_line)
