"""Access: one token, from a file that others cannot read, compared in constant time, told to nobody."""

from pathlib import Path

import pytest

from flopwitness.app.serving.access import Access
from flopwitness.core.errors import BadInputError

TOKEN = "correct-horse-battery-staple"  # noqa: S105  a token for tests


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    """Return a token file."""
    path = folder / "token"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_without_a_file_each_run_has_a_token_of_its_own():
    """256 bits, so 43 characters of base64."""
    first, second = Access.of(None), Access.of(None)

    assert first.token != second.token
    assert len(first.token) == 43


def test_a_token_is_read_from_a_file_without_the_line_end(tmp_path: Path):
    """As ``echo`` and ``openssl rand -base64`` write it."""
    assert Access.of(written(tmp_path, TOKEN + "\n")).token == TOKEN


@pytest.mark.parametrize(
    "text", ["", "short", "two words that are long enough by far", "ümlaut" * 10, "x" * 600]
)
def test_what_is_no_token_is_refused_without_saying_it(tmp_path: Path, text: str):
    """The message has its length alone."""
    with pytest.raises(BadInputError, match="characters") as refused:
        Access.of(written(tmp_path, text))

    assert not text or text not in str(refused.value)


def test_a_file_that_others_can_read_is_refused(tmp_path: Path):
    """The message names the mode."""
    with pytest.raises(BadInputError, match="0644"):
        Access.of(written(tmp_path, TOKEN, 0o644))


def test_a_missing_file_is_refused(tmp_path: Path):
    """One line."""
    with pytest.raises(BadInputError, match="No such file"):
        Access.of(tmp_path / "none")


@pytest.mark.parametrize(
    ("authorization", "cookie", "expected"),
    [
        (f"Bearer {TOKEN}", "", True),
        (f"bearer {TOKEN}", "", True),
        ("", Access(TOKEN).cookie, True),
        ("", "", False),
        ("Bearer ", "", False),
        (f"Basic {TOKEN}", "", False),
        (f"Bearer {TOKEN}x", "", False),
        ("Bearer ünknown", "", False),
        ("", TOKEN, False),
    ],
)
def test_the_bearer_or_the_cookie_admits(authorization: str, cookie: str, expected: bool):
    """The cookie is not the token, so neither stands in for the other."""
    assert Access(TOKEN).admits(authorization, cookie) is expected


def test_the_token_shows_nowhere():
    """Not in a traceback's or a log's view of the object, and not in the cookie."""
    access = Access(TOKEN)

    assert TOKEN not in repr(access)
    assert TOKEN not in access.cookie
