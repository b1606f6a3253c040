"""The note of what boards were set to before: on disk before anything changes, gone once all is back."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flopwitness.core.errors import BadInputError

FORMAT, VERSION = "flopwitness-boards", 1


class Before(NamedTuple):
    """What to put back on a board: its power limit, or None where its clock is to be unlocked."""

    uuid: str
    power_limit_watts: float | None


def write_note(path: Path, before: Sequence[Before]) -> None:
    """Write the note, whole and forced to disk; an empty one is removed.

    Raises
    ------
    BadInputError
        When the disk refuses: then nothing may be set.
    """
    if not before:
        remove_note(path)
        return
    content = {"format": FORMAT, "version": VERSION, "boards": [one._asdict() for one in before]}
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8") as out:
            json.dump(content, out)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except OSError as error:
        raise BadInputError(
            str(path), "", expected="a file to write to", got=os.strerror(error.errno or 0).lower()
        ) from error


def taken(path: Path) -> tuple[Before, ...]:
    """Return what a note says; nothing where there is none.

    Raises
    ------
    BadInputError
        When it is none of ours.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise BadInputError(str(path), "", expected="a note of set boards", got=str(error)) from error
    try:
        return _boards(content)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInputError(str(path), "", expected="a note of set boards", got=repr(content)[:60]) from error


def remove_note(path: Path) -> None:
    """Take the note away; nothing where there is none."""
    path.unlink(missing_ok=True)


def _boards(content: dict[str, Any]) -> tuple[Before, ...]:
    if (content["format"], content["version"]) != (FORMAT, VERSION):
        raise KeyError(content["format"])
    return tuple(_before(one) for one in content["boards"])


def _before(one: dict[str, object]) -> Before:
    watts = one["power_limit_watts"]
    if not isinstance(one["uuid"], str) or not (watts is None or isinstance(watts, int | float)):
        raise TypeError(one)
    return Before(one["uuid"], None if watts is None else float(watts))
