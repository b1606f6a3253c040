"""Options that answer what a foreign file leaves open: zone, start, period, chip."""

from datetime import UTC, datetime, tzinfo
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from flopwitness.core.errors import BadInputError
from flopwitness.physics.chips import chip_named
from flopwitness.telemetry.readers.asked import Asked

Zone = Annotated[
    str | None,
    typer.Option("--tz", help="Zone of stamps that carry none, such as Europe/Paris or UTC; never guessed."),
]
Start = Annotated[
    str | None,
    typer.Option("--start", help="When the first sample was taken, ISO 8601, where the file has no times."),
]
Period = Annotated[
    float | None,
    typer.Option("--period", help="Seconds from sample to sample, where the file has no times.", min=1e-6),
]
ForeignChip = Annotated[
    str | None,
    typer.Option("--chip", help="Chip of GPUs that the file does not name, such as H100-SXM."),
]


def asked_of(tz: str | None, start: str | None, period: float | None, chip: str | None) -> Asked:
    """Return what a user adds to a file.

    Raises
    ------
    BadInputError
        When there is no such zone, or the start is no instant.
    UnknownChipError
        When there is no such chip.

    Examples
    --------
    >>> asked_of(None, "2026-02-03T04:05:06Z", None, "h100-sxm").start_ns
    1770091506000000000
    """
    zone = _zone(tz)
    start_ns = None if start is None else _instant_ns(start, zone)
    return Asked(zone, start_ns, period, None if chip is None else chip_named(chip).name)


def _zone(name: str | None) -> tzinfo | None:
    if name is None:
        return None
    try:
        return UTC if name.upper() in {"UTC", "Z"} else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        expected = "a zone of the IANA database, such as Europe/Paris"
        raise BadInputError("--tz", "", expected=expected, got=repr(name)) from None


def _instant_ns(text: str, zone: tzinfo | None) -> int:
    expected = "an instant with zone, such as 2026-02-03T04:05:06Z (or --tz)"
    try:
        stamp = datetime.fromisoformat(text)
    except ValueError:
        raise BadInputError("--start", "", expected=expected, got=repr(text)) from None
    if stamp.tzinfo is None and zone is None:
        raise BadInputError("--start", "", expected=expected, got=repr(text))
    stamp = stamp if stamp.tzinfo else stamp.replace(tzinfo=zone)
    elapsed = stamp - datetime(1970, 1, 1, tzinfo=UTC)
    return ((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds) * 1000
