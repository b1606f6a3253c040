"""Instants as people write them: with a zone, or as a time ago. A naive stamp is refused, never guessed."""

import re
from datetime import UTC, datetime

from flopwitness.core.errors import BadInputError
from flopwitness.core.trace import NANOSECONDS_PER_SECOND

AGO = re.compile(r"^(?P<number>\d{1,9})(?P<unit>[smhdw])$")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_ns(text: str, *, now_ns: int, option: str) -> int:
    """Return an instant, UTC nanoseconds.

    Parameters
    ----------
    text : str
        ISO 8601 with a zone, ``now``, or how long ago: ``90s``, ``30m``, ``6h``, ``2d``, ``1w``.
    now_ns : int
        The present, UTC nanoseconds.
    option : str
        Whose value it is, for messages.

    Raises
    ------
    BadInputError
        When it is none of these, lies before 1970 or in the future.

    Examples
    --------
    >>> moment_ns("2026-02-03T05:05:06+01:00", now_ns=2 * 10**18, option="--since")
    1770091506000000000
    >>> moment_ns("1m", now_ns=90 * 10**9, option="--since")
    30000000000
    """
    if (found := AGO.match(text)) is not None:
        instant_ns = now_ns - int(found["number"]) * SECONDS[found["unit"]] * NANOSECONDS_PER_SECOND
    else:
        instant_ns = now_ns if text == "now" else _stamp_ns(text, option)
    if not 0 <= instant_ns <= now_ns:
        raise BadInputError(option, "", expected="an instant from 1970 to now", got=repr(text))
    return instant_ns


def _stamp_ns(text: str, option: str) -> int:
    try:
        stamp = datetime.fromisoformat(text)
    except ValueError:
        stamp = None
    if stamp is None or stamp.tzinfo is None:
        expected = "an instant with zone, such as 2026-02-03T04:05:06Z, or a time ago, such as 6h"
        raise BadInputError(option, "", expected=expected, got=repr(text)) from None
    elapsed = stamp - EPOCH
    return ((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds) * 1000
