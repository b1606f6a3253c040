"""Who may read: a token, as a bearer or behind a cookie. It is compared in constant time and never logged."""

import hashlib
import hmac
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from flopwitness.core.errors import BadInputError

TOKEN_BYTES = 32
"""Of a token that is made here: 256 bits."""

MIN_TOKEN_CHARACTERS, MAX_TOKEN_CHARACTERS = 24, 512
"""Of one from a file; 24 characters of base64 are 144 bits."""

COOKIE_MEANING = b"flopwitness page"


@dataclass(frozen=True, slots=True)
class Access:
    """The token that opens everything but ``/healthz`` and the empty page.

    Attributes
    ----------
    token : str
        Printable ASCII without blanks.
    """

    token: str = field(repr=False)

    @classmethod
    def of(cls, path: Path | None) -> Self:
        """Read the token from a file; make one where there is none.

        Raises
        ------
        BadInputError
            When the file cannot be read, others may read it, or it does not hold one word of some length.
        """
        return cls(secrets.token_urlsafe(TOKEN_BYTES) if path is None else _read(path))

    @property
    def cookie(self) -> str:
        """What the cookie holds: it follows from the token and does not tell it."""
        return hmac.new(self.token.encode(), COOKIE_MEANING, hashlib.sha256).hexdigest()

    def opens(self, token: str) -> bool:
        """Say whether this is the token."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def admits(self, authorization: str, cookie: str) -> bool:
        """Say whether either header lets a request in.

        Parameters
        ----------
        authorization : str
            Value of the header; empty where there is none.
        cookie : str
            Value of our cookie; empty where there is none.
        """
        scheme, _, token = authorization.partition(" ")
        bears = scheme.lower() == "bearer" and self.opens(token.strip())
        return bears or hmac.compare_digest(cookie.encode(), self.cookie.encode())


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(path.stat().st_mode)
            token = file.read(MAX_TOKEN_CHARACTERS + 2).decode("ascii", "replace").strip()
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise BadInputError(str(path), "", expected="a file with a token", got=got) from None
    if mode & stat.S_IRWXO:
        raise BadInputError(
            str(path), "mode", expected="a token file that others cannot read", got=f"{mode:04o}"
        )
    length = MIN_TOKEN_CHARACTERS <= len(token) <= MAX_TOKEN_CHARACTERS
    if not (length and token.isascii() and token.isprintable() and " " not in token):
        expected = f"one word of {MIN_TOKEN_CHARACTERS} to {MAX_TOKEN_CHARACTERS} ASCII characters"
        raise BadInputError(str(path), "token", expected=expected, got=f"{len(token)} characters")
    return token
