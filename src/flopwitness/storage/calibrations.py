"""Calibrations as versioned JSON; what the payload means is the business of who fitted it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flopwitness.core.errors import BadInputError
from flopwitness.storage.documents import read_document, write_document

KIND = "flopwitness-calibration"
VERSION = 1
"""Of the envelope; the payload carries a version of its own."""


def write_calibration(path: Path, payload: Mapping[str, Any], *, replace: bool = False) -> None:
    """Write a calibration, whole or not at all.

    Parameters
    ----------
    path : Path
        The file; its folder must exist.
    payload : mapping
        Texts, finite numbers, booleans, None, lists and mappings with text keys.
    replace : bool
        Whether an existing file may go.

    Raises
    ------
    BadInputError
        When the name is taken, the folder cannot be written to, or the payload holds something else,
        NaN above all: a fitted state with NaN is no state.
    """
    write_document(path, {"format": KIND, "version": VERSION, "payload": payload}, replace=replace)


def read_calibration_payload(path: Path) -> dict[str, Any]:
    """Return what was written; ``BadInputError`` for anything that is no calibration of this version."""
    payload = read_document(path, kind=KIND, version=VERSION).get("payload")
    if not isinstance(payload, dict):
        raise BadInputError(
            str(path), "field 'payload'", expected="an object", got=f"a {type(payload).__name__}"
        )
    return payload
