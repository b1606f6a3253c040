"""What ranks say: one JSON object a line, each with two clocks, on a pipe of its own."""

import json
import os
import time
from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]


class Reporter:
    """The rank's end of the pipe; NCCL and Python may write what they like to the other streams."""

    def __init__(self, descriptor: int, rank: int) -> None:
        self.descriptor = descriptor
        self.rank = rank

    def say(self, event: str, **fields: object) -> None:
        """Send one event, stamped now; a parent that is gone is no error here."""
        stamps = {"utc_ns": time.time_ns(), "monotonic_ns": time.monotonic_ns()}
        content = {"event": event, "rank": self.rank, **stamps, **fields}
        os.write(self.descriptor, json.dumps(content).encode() + b"\n")


def parsed(line: bytes) -> Event | None:
    """Return an event, or None where a killed rank left half a line.

    Examples
    --------
    >>> parsed(b'{"event": "ready", "rank": 0}')["event"], parsed(b'{"event": "re')
    ('ready', None)
    """
    try:
        content = json.loads(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) and "event" in content else None
