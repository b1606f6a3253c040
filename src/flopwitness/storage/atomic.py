"""Files that are whole or not there: written aside, forced to disk, then given their name."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from flopwitness.core.errors import BadInputError

Fill = Callable[[BinaryIO], object]
"""Writes the whole content to an open file."""


def write_atomically(path: Path, fill: Fill, *, replace: bool = False) -> None:
    """Write a file so that nobody ever sees half of it, also after a kill or a power cut.

    A killed writer leaves a hidden ``.<name>.<random>.tmp`` beside the target and nothing else.

    Parameters
    ----------
    path : Path
        The target; its folder must exist.
    fill : callable
        Writes the content.
    replace : bool
        Whether an existing file may go.

    Raises
    ------
    BadInputError
        When the name is taken, or the folder cannot be written to.
    """
    path = Path(path)
    try:
        if not replace:
            refuse_taken(path)  # before the work; the link below settles it
        _write(path, fill, replace=replace)
    except OSError as error:
        raise BadInputError(str(path), "", expected="a name to write to", got=reason(error)) from error


def refuse_taken(path: Path) -> None:
    """Raise ``BadInputError`` when something bears a name already."""
    if os.path.lexists(path):
        raise BadInputError(str(path), "", expected="a free name", got="one that exists")


def temporary_beside(path: Path) -> Path:
    """Return a hidden name in the same folder, hence on the same disk, that nobody else uses."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")


def reason(error: OSError) -> str:
    """Return the plain words for a system error, in lower case and without its number."""
    return os.strerror(error.errno).lower() if error.errno else str(error)


def read_bytes(path: Path) -> bytes:
    """Return what a file holds; ``BadInputError`` where it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadInputError(str(path), "", expected="a file that can be read", got=reason(error)) from error


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to disk: a file's own sync does not cover its name."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(path: Path, fill: Fill, *, replace: bool) -> None:
    temporary = temporary_beside(path)
    try:
        with temporary.open("xb") as out:
            fill(out)
            out.flush()
            os.fsync(out.fileno())
        _publish(temporary, path, replace=replace)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _publish(
    temporary: Path, path: Path, *, replace: bool, link: Callable[[Path, Path], None] = os.link
) -> None:
    """Give the finished file its name; a link, unlike a rename, fails where the name is taken."""
    if replace:
        temporary.replace(path)
        return
    try:
        link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: the last look is the best there is
        refuse_taken(path)
        temporary.replace(path)
