"""A journal keeps whole lines alone, and none twice."""

from pathlib import Path

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.storage.journal import Journal
from tiny_disk import tiny_disk


def line(name: str) -> dict[str, object]:
    """Return an entry."""
    return {"session_id": name, "flop": 1.5}


def test_what_was_appended_is_there_when_it_is_opened_again(tmp_path: Path):
    """One object a line, in order; the folder is made."""
    journal = Journal(tmp_path / "state" / "j.jsonl")
    for name in ("a", "b"):
        journal.append(line(name))

    again = Journal(tmp_path / "state" / "j.jsonl")

    assert list(again.entries()) == [line("a"), line("b")]
    assert "a" in again
    assert "c" not in again


def test_nothing_is_written_twice(tmp_path: Path):
    """A workload that was told before a restart is known after it."""
    Journal(tmp_path / "j").append(line("a"))
    again = Journal(tmp_path / "j")

    assert [again.append(line(name)) for name in ("a", "b", "b")] == [False, True, False]
    assert len((tmp_path / "j").read_bytes().splitlines()) == 2


def fill(journal: Journal) -> None:
    """Append until there is no room."""
    for number in range(1000):
        journal.append(line(f"{number}" * 100))


@pytest.mark.parametrize("n_left", [1, 10, -1])
def test_a_half_line_is_dropped(tmp_path: Path, n_left: int):
    """A writer killed in the middle of a line did not acknowledge it."""
    path = tmp_path / "j"
    journal = Journal(path)
    journal.append(line("a"))
    size = path.stat().st_size
    journal.append(line("b"))
    path.write_bytes(path.read_bytes()[: size + n_left if n_left > 0 else -1])

    again = Journal(path)
    again.append(line("c"))

    assert [entry["session_id"] for entry in Journal(path).entries()] == ["a", "c"]


def test_the_last_whole_line_is_found_however_long_what_follows_is(tmp_path: Path):
    """Half lines longer than a block of reading, with and without a whole line before."""
    for n_before in (0, 1):
        path = tmp_path / str(n_before)
        path.write_bytes(b'{"session_id": "a"}\n' * n_before + b"x" * 200_000)

        assert len(list(Journal(path).entries())) == n_before
        assert path.stat().st_size == 20 * n_before


@pytest.mark.parametrize("text", ["no json\n", "[1]\n", '{"other": 1}\n'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str):
    """Nothing is appended to what is no journal."""
    (tmp_path / "j").write_text(text)

    with pytest.raises(BadInputError, match="line 1"):
        Journal(tmp_path / "j")


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path):
    """One line, before any sample is taken."""
    (tmp_path / "file").write_text("")

    with pytest.raises(BadInputError, match="journal"):
        Journal(tmp_path / "file" / "j")


def test_a_full_disk_leaves_no_part_of_a_line(tmp_path: Path):
    """The line that does not fit is refused in one line, and gone; those before it stay."""
    with tiny_disk(tmp_path / "tiny", size="16k") as disk:
        journal = Journal(disk / "j")
        with pytest.raises(BadInputError, match="no space left"):
            fill(journal)
        journal.close()

        assert len(list(Journal(disk / "j").entries())) > 0
        assert (disk / "j").read_bytes().endswith(b"\n")
