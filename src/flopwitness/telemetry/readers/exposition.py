"""Lines of the Prometheus text exposition to names with labels, values and stamps, without a loop over lines.

A line is ``name{label="value",...} value [stamp]``. Values and stamps hold no brace, so the last brace of a
line ends its labels, whatever these hold. Each distinct text before it is read once.

Source: prometheus.io/docs/instrumenting/exposition_formats.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flopwitness.telemetry.prometheus.series import NAME
from flopwitness.telemetry.readers.cells import Cells, arrow_compute, read_numbers
from flopwitness.telemetry.readers.inputs import Block

METRIC = re.compile(r"\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{")
LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"([^"\\]*(?:\\.[^"\\]*)*)"\s*(,|$)', re.DOTALL)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
UNLABELLED = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*[ \t]+\S")
LINE_FEED, BRACE, HASH = 10, 125, 35


@dataclass(frozen=True, slots=True, eq=False)
class SampleLines:
    """The samples of a block as text.

    Attributes
    ----------
    heads : Arrow string array of shape (n_lines,)
        Name and labels, without the brace that ends them.
    values : Cells
        The numbers of the lines.
    stamps : Arrow string array of shape (n_lines,)
        The time stamps; null where a line has none.
    lines : ndarray of shape (n_lines,), int64
        Line numbers.
    bad_lines : ndarray of shape (n_bad,), int64
        Numbers of lines that are neither samples with labels nor comments nor samples without labels.
    """

    heads: Any
    values: Cells
    stamps: Any
    lines: NDArray[np.int64]
    bad_lines: NDArray[np.int64]

    def where(self, keep: NDArray[np.bool_]) -> "SampleLines":
        """Return some of the samples."""
        mask = pa.array(keep)
        heads, stamps = self.heads.filter(mask), self.stamps.filter(mask)
        return SampleLines(heads, self.values.take(keep), stamps, self.lines[keep], self.bad_lines)


def sample_lines(block: Block) -> SampleLines:
    """Split the lines of a block."""
    data = block.data if block.data.isascii() else block.text.encode()
    content = np.frombuffer(data, dtype=np.uint8)
    stops = np.flatnonzero(content == LINE_FEED)
    starts = np.concatenate([[0], stops[:-1] + 1])[: len(stops)]
    braces = np.concatenate([[-1], np.flatnonzero(content == BRACE)])
    last = braces[np.searchsorted(braces, stops) - 1]
    is_comment = content[starts] == HASH
    is_labelled = (last >= starts) & ~is_comment
    rows = np.flatnonzero(is_labelled)
    heads, tails = _cut(data, starts[rows], last[rows], stops=stops[rows])
    values, stamps, is_shaped = _numbers(tails)
    lines = rows + block.first_line
    others = np.flatnonzero(~is_labelled & ~is_comment)
    bad = [row for row in others.tolist() if _is_bad(data[starts[row] : stops[row]])]
    bad_lines = np.concatenate([lines[~is_shaped], np.array(bad, dtype=np.int64) + block.first_line])
    keep = pa.array(is_shaped)
    heads, stamps = heads.filter(keep), stamps.filter(keep)
    return SampleLines(heads, values, stamps, lines[is_shaped], np.sort(bad_lines))


def labels_of(head: str) -> Mapping[str, str] | None:
    r"""Return the labels of a series, its name among them; None where the text is no name with labels.

    Examples
    --------
    >>> labels_of('power{gpu="0", job="a}b\\"c",')
    {'__name__': 'power', 'gpu': '0', 'job': 'a}b"c'}
    """
    found = METRIC.match(head)
    if found is None:
        return None
    labels, place = {NAME: found.group(1)}, found.end()
    text = head.rstrip()
    while place < len(text):
        label = LABEL.match(text, place)
        if label is None or label.group(1) in labels:
            return None
        labels[label.group(1)] = ESCAPE.sub(_unescaped, label.group(2))
        place = label.end()
    return labels


def label_list(text: str) -> Mapping[str, str]:
    """Return the labels of a list without name and braces; empty where it is none."""
    return {name: value for name, value in (labels_of("_{" + text) or {}).items() if name != NAME}


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found.group(1) == "n" else found.group(1)


def _is_bad(line: bytes) -> bool:
    """Say whether a line without labels is no sample either; such samples speak of no GPU."""
    text = line.decode(errors="replace").strip()
    return bool(text) and not text.startswith("#") and UNLABELLED.match(text) is None


def _cut(
    data: bytes, starts: NDArray[np.int64], last: NDArray[np.int64], *, stops: NDArray[np.int64]
) -> tuple[Any, Any]:
    """Return what lies before and behind the last brace of each line."""
    offsets = np.empty(3 * len(starts) + 1, dtype=np.int32)
    offsets[0:-1:3], offsets[1::3], offsets[2::3], offsets[-1] = starts, last, stops, len(data)
    whole = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    places = np.arange(0, len(offsets) - 1, 3)
    return whole.take(pa.array(places)), whole.take(pa.array(places + 1))


def _numbers(tails: Any) -> tuple[Cells, Any, NDArray[np.bool_]]:
    """Return values and stamps of the lines that have one or two words behind the brace."""
    pc = arrow_compute()
    text = pc.ascii_trim(tails, characters="} \t\r\n")
    has_value = pc.greater(pc.binary_length(text), 0)
    if not pc.any(pc.match_substring_regex(text, r"\s")).as_py():
        return _values(text.filter(has_value)), pa.nulls(len(text), pa.string()), _as_bools(has_value)
    words = pc.ascii_split_whitespace(text)
    counts = pc.list_value_length(words).to_numpy(zero_copy_only=False)
    is_shaped = ((counts == 1) | (counts == 2)) & _as_bools(has_value)
    first = words.offsets.to_numpy()[:-1]
    values = words.values.take(pa.array(first[is_shaped]))
    second = np.where(counts == 2, first + 1, 0)
    stamps = words.values.take(pa.array(second, mask=counts != 2))
    return _values(values), stamps, is_shaped


def _values(text: Any) -> Cells:
    """Read values; the format knows no word for "no answer" but NaN."""
    cells = read_numbers(text)
    if not (np.isnan(cells.values) & ~cells.is_infinite).any():
        return cells
    is_nan = _as_bools(arrow_compute().match_substring_regex(text, "(?i)^[+-]?nan$"))
    is_sentinel = np.zeros(len(text), dtype=np.bool_)
    rows = np.flatnonzero(cells.is_missing & ~is_nan)
    is_sentinel[rows] = _as_bools(arrow_compute().match_substring_regex(text.take(pa.array(rows)), "^[0-9]"))
    return Cells(cells.values, cells.is_bad | (cells.is_missing & ~is_nan & ~is_sentinel), cells.is_infinite)


def _as_bools(found: Any) -> NDArray[np.bool_]:
    bools: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False).astype(np.bool_)
    return bools
