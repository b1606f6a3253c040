"""The note of what was there before: whole, forced to disk, and refused where it is not ours."""

from pathlib import Path

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.lab.capping_notes import Before, remove_note, taken, write_note

BOARDS = (Before("GPU-a", 650.0), Before("GPU-b", None))


def test_a_note_comes_back_and_goes(tmp_path: Path) -> None:
    """Folders are made; an empty note is none; taking away twice is no error."""
    path = tmp_path / "run" / "boards.json"

    write_note(path, BOARDS)
    found = taken(path)
    write_note(path, ())
    remove_note(path)

    assert found == BOARDS
    assert taken(path) == ()
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"format": "other", "version": 1, "boards": []}',
        '{"format": "flopwitness-boards", "version": 2, "boards": []}',
        '{"format": "flopwitness-boards", "version": 1, "boards": [{"uuid": 3, "power_limit_watts": 1}]}',
        '{"format": "flopwitness-boards", "version": 1, "boards": [{"uuid": "a", "power_limit_watts": "x"}]}',
    ],
)
def test_a_foreign_or_damaged_note_is_refused(tmp_path: Path, content: str) -> None:
    """Boards are not set by what somebody else wrote."""
    path = tmp_path / "boards.json"
    path.write_text(content)

    with pytest.raises(BadInputError, match="expected a note of set boards"):
        taken(path)


def test_a_disk_that_refuses_is_said_before_anything_is_set(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "run").write_text("")

    with pytest.raises(BadInputError, match="expected a file to write to"):
        write_note(tmp_path / "run" / "boards.json", BOARDS)
