"""Stamps to instants: every stamp needs a zone of its own or one that the user named.

The same bytes give the same instants on any machine: its zone is never asked.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flopwitness.telemetry.readers.cells import arrow_compute

NO_INSTANT = np.iinfo(np.int64).min
"""Where a stamp cannot be read."""

NANOSECONDS_PER_MINUTE = 60_000_000_000
SET_BACK_NS = 20 * NANOSECONDS_PER_MINUTE
"""Time that runs back this far within an hour that occurs twice is the clock being set back, not disorder."""

EARLIEST_NS, LATEST_NS = 0, 2**62
"""1970 to 2116: what a stamp can be."""

ZONED = r"^(.*?)\s*(Z|z|UTC|GMT|[+-]\d\d:?\d\d)$"


def seconds_to_ns(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return seconds as nanoseconds, rounded to microseconds: a float64 of an epoch holds no more."""
    return _to_ns(values, 1e6, 1000)


def milliseconds_to_ns(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return milliseconds as nanoseconds, rounded to microseconds."""
    return _to_ns(values, 1e3, 1000)


def _to_ns(values: NDArray[np.float64], microseconds: float, ns: int) -> NDArray[np.int64]:
    with np.errstate(over="ignore"):  # an overflow is infinite, hence no instant
        scaled = np.round(values * microseconds)
    is_instant = (scaled >= EARLIEST_NS / ns) & (scaled < LATEST_NS / ns)
    whole = np.where(is_instant, scaled, 0.0).astype(np.int64) * ns
    return np.where(is_instant, whole, NO_INSTANT)


def iso_instants(text: Any, zone: tzinfo | None) -> tuple[NDArray[np.int64], bool]:
    """Read ISO 8601 stamps, blank or ``T`` between date and time, slashes allowed in the date.

    Parameters
    ----------
    text : Arrow string array of shape (n_rows,)
        The stamps; each with ``Z`` or an offset, or none.
    zone : tzinfo or None
        Zone of stamps that carry none.

    Returns
    -------
    time_ns : ndarray of shape (n_rows,), int64
        UTC nanoseconds; ``NO_INSTANT`` where a stamp cannot be read or lacks a zone that nobody gave.
    lacks_zone : bool
        Whether a stamp was left out for want of a zone alone.

    Examples
    --------
    >>> text = pa.array(["2026-02-03T04:05:06.5Z", "2026/02/03 05:05:06.5+01:00", "2026-02-03 04:05:06"])
    >>> time_ns, lacks_zone = iso_instants(text, None)
    >>> time_ns.tolist()[:2], lacks_zone
    ([1770091506500000000, 1770091506500000000], True)
    """
    pc = arrow_compute()
    cells = pc.utf8_trim(text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text, ' \t\r"')
    try:
        wall_ns = _cast_ns(_dashed(cells))  # fails where a single stamp has a zone
        return _localised(wall_ns, zone), zone is None and bool((wall_ns != NO_INSTANT).any())
    except pa.ArrowInvalid:
        pass
    is_zoned = pc.match_substring_regex(cells, ZONED).to_numpy(zero_copy_only=False).astype(np.bool_)
    if not is_zoned.any():
        wall_ns = _wall_ns(cells)
        return _localised(wall_ns, zone), zone is None and bool((wall_ns != NO_INSTANT).any())
    parts = pc.extract_regex(cells, r"^(?P<wall>.*?)\s*(?P<zone>Z|z|UTC|GMT|[+-]\d\d:?\d\d)$")
    wall = pc.if_else(pa.array(is_zoned), pc.struct_field(parts, "wall"), cells)
    wall_ns = _wall_ns(wall)
    offset_ns = _offsets(pc.struct_field(parts, "zone"))
    zoned = np.where(wall_ns == NO_INSTANT, NO_INSTANT, wall_ns - offset_ns)
    naive = np.where(is_zoned, NO_INSTANT, wall_ns)
    local = _localised(naive, zone)
    lacks_zone = zone is None and bool((naive != NO_INSTANT).any())
    return np.where(is_zoned, zoned, local), lacks_zone


def written_instants(
    text: Sequence[str], patterns: Sequence[str], zone: tzinfo | None
) -> tuple[NDArray[np.int64], bool]:
    """Read stamps by ``strptime`` patterns, the first that fits the first stamp; for small files.

    Returns the same as ``iso_instants``.
    """
    wall_ns = np.full(len(text), NO_INSTANT)
    for row, cell in enumerate(text):
        for pattern in patterns:
            try:
                stamp = datetime.strptime(cell.strip(), pattern).replace(tzinfo=UTC)
            except ValueError:
                continue
            wall_ns[row] = _exact_ns(stamp)
            break
    return _localised(wall_ns, zone), zone is None and bool((wall_ns != NO_INSTANT).any())


def _exact_ns(stamp: datetime) -> int:
    elapsed = stamp - datetime(1970, 1, 1, tzinfo=UTC)
    whole = ((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds) * 1000
    return whole if EARLIEST_NS <= whole < LATEST_NS else NO_INSTANT


def _wall_ns(cells: Any) -> NDArray[np.int64]:
    """Read dates and times as if they were UTC; ``NO_INSTANT`` where that fails."""
    pc = arrow_compute()
    plain = _dashed(cells)
    try:
        return _cast_ns(plain)
    except pa.ArrowInvalid:
        pattern = r"^(19|20|21)\d\d-\d\d-\d\d( \d\d:\d\d(:\d\d(\.\d{1,9})?)?)?$"
        is_stamp = pc.match_substring_regex(plain, pattern)
    try:
        return _cast_ns(pc.if_else(is_stamp, plain, None))
    except pa.ArrowInvalid:  # digits in the right places, and no such day
        return np.array([_wall_of(cell) for cell in pc.if_else(is_stamp, plain, None).to_pylist()], np.int64)


def _dashed(cells: Any) -> Any:
    """Return stamps with dashes in the date and a blank behind it, as Arrow reads them."""
    pc = arrow_compute()
    for printed, read in (("/", "-"), ("T", " ")):
        if pc.any(pc.match_substring(cells, printed)).as_py():
            cells = pc.replace_substring(cells, printed, read)
    return cells


def _cast_ns(cells: Any) -> NDArray[np.int64]:
    pc = arrow_compute()
    instants = pc.cast(pc.cast(cells, pa.timestamp("ns")), pa.int64())
    found: NDArray[np.int64] = pc.fill_null(instants, NO_INSTANT).to_numpy(zero_copy_only=False)
    return np.where((found >= EARLIEST_NS) & (found < LATEST_NS), found, NO_INSTANT)


def _wall_of(cell: str | None) -> int:
    try:
        return NO_INSTANT if cell is None else int(_cast_ns(pa.array([cell]))[0])
    except pa.ArrowInvalid:
        return NO_INSTANT


def _offsets(zones: Any) -> NDArray[np.int64]:
    """Return the offset of each zone from UTC in nanoseconds; few differ, so each is read once."""
    encoded = arrow_compute().dictionary_encode(zones)
    known = np.array([_offset_ns(zone) for zone in encoded.dictionary.to_pylist()] or [0], dtype=np.int64)
    codes = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    found: NDArray[np.int64] = known[codes]
    return found


def _offset_ns(zone: str | None) -> int:
    if not zone or zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return (-1 if zone[0] == "-" else 1) * minutes * NANOSECONDS_PER_MINUTE


def _localised(wall_ns: NDArray[np.int64], zone: tzinfo | None) -> NDArray[np.int64]:
    """Return wall times of a zone as instants; all ``NO_INSTANT`` without a zone.

    In the hour that a clock set back shows twice, rows behind the jump back are of the second pass. A time
    that a clock set forward never showed is no instant.
    """
    if zone is None:
        return np.full(len(wall_ns), NO_INSTANT)
    is_known = wall_ns != NO_INSTANT
    minutes, place = np.unique(wall_ns[is_known] // NANOSECONDS_PER_MINUTE, return_inverse=True)
    first = np.array([_utc_offset_ns(minute, zone, fold=0) for minute in minutes.tolist()], dtype=np.int64)
    second = np.array([_utc_offset_ns(minute, zone, fold=1) for minute in minutes.tolist()], dtype=np.int64)
    wall = wall_ns[is_known]
    jumps = np.concatenate([[0], np.cumsum(np.diff(wall) < -SET_BACK_NS)]) if len(wall) else np.array([], int)
    early, late = first[place], second[place]
    is_second = (early > late) & (jumps > 0)
    instants = np.full(len(wall_ns), NO_INSTANT)
    found = wall - np.where(is_second, late, early)
    instants[is_known] = np.where(early < late, NO_INSTANT, found)  # a time that never was
    return instants


def _utc_offset_ns(minute: int, zone: tzinfo, *, fold: int) -> int:
    stamp = datetime.fromtimestamp(minute * 60, UTC).replace(tzinfo=zone, fold=fold)
    offset = stamp.utcoffset()
    return 0 if offset is None else round(offset.total_seconds() * 1e9)
