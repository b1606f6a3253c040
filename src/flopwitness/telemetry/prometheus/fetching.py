"""One HTTP request: bounded in time and size, never led elsewhere, and silent about the token.

Only the standard library: an answer is megabytes, so a connection that is kept saves nothing.
"""

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError

SOURCE = "prometheus"
CHUNK_BYTES = 65536
MOST_ERROR_BYTES = 65536
MOST_SHOWN = 200
TOO_MUCH_WORDS = (
    "too many samples",
    "query timed out",
    "more samples",
    "maxSamplesPerQuery",
    "exceeds the limit",
)
"""What servers say when a smaller stretch would work: Prometheus' ``query.max-samples`` and
``query.timeout``, Thanos, VictoriaMetrics."""

SERVICE_UNAVAILABLE, UNPROCESSABLE = 503, 422


class TooMuchError(SourceUnavailableError):
    """An answer that is too large or takes too long; a shorter stretch may be answered."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where an API is and who asks.

    Attributes
    ----------
    url : str
        Such as ``http://localhost:9090`` or, behind a prefix, ``https://metrics.example/prometheus``.
    token : str
        Sent as a bearer token; empty for none. It is in no message.
    patience_seconds : float
        How long an answer may take in all, > 0.
    most_bytes : int
        The largest answer that is taken, > 0.

    Raises
    ------
    BadInputError
        When the address is none, or holds a user or a query; when the token could not be a header.
    """

    url: str
    token: str = ""
    patience_seconds: float = 120.0
    most_bytes: int = 256 * 1024 * 1024

    def __post_init__(self) -> None:
        """Refuse what would fail later, without repeating what may be a secret."""
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInputError(
                "address", "", expected="http:// or https:// and a host", got="another address"
            )
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            got = "a user or a query in the address"
            raise BadInputError(self.name, "", expected="an address alone and a token apart", got=got)
        if self.token and not (self.token.isascii() and self.token.isprintable() and " " not in self.token):
            raise BadInputError("token", "", expected="printable characters without blanks", got="others")

    def __repr__(self) -> str:
        return f"Access({self.name!r})"

    @property
    def name(self) -> str:
        """Host and port, for people."""
        parts = urllib.parse.urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Does not follow: a redirect would carry the token to whoever it names."""

    def redirect_request(self, *_: object) -> None:
        """Return nothing, so that the redirect becomes an error."""


OPENER = urllib.request.build_opener(_NoRedirects)


def fetched(access: Access, path: str, form: Sequence[tuple[str, str]]) -> bytes:
    """Return what an API answers to a POSTed form.

    Raises
    ------
    TooMuchError
        When the answer is too large or too slow, or the server says that it would be.
    SourceUnavailableError
        When there is no answer, or a refusal; the server's own words are repeated, without the token.
    """
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if access.token:
        headers["Authorization"] = f"Bearer {access.token}"
    url = access.url.rstrip("/") + path
    request = urllib.request.Request(url, urllib.parse.urlencode(form).encode(), headers)  # noqa: S310  checked
    try:
        with OPENER.open(request, timeout=access.patience_seconds) as answer:
            return _read(answer, access)
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error, access) from None
    except TimeoutError:
        raise TooMuchError(SOURCE, f"{access.name} did not answer in {access.patience_seconds:g} s") from None
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            raise TooMuchError(SOURCE, f"{access.name} did not answer in time") from None
        raise SourceUnavailableError(SOURCE, f"{access.name}: {_plain(str(reason), access)}") from None


def _read(answer: "http.client.HTTPResponse | IO[bytes]", access: Access) -> bytes:
    """Read an answer to its end; one that drips is given up like one that never comes."""
    deadline = time.monotonic() + access.patience_seconds
    chunks: list[bytes] = []
    n_left = access.most_bytes
    while chunk := answer.read1(CHUNK_BYTES):  # type: ignore[union-attr]
        n_left -= len(chunk)
        if n_left < 0:
            raise TooMuchError(SOURCE, f"{access.name} answered more than {access.most_bytes:,} bytes")
        if time.monotonic() > deadline:
            raise TooMuchError(SOURCE, f"{access.name} did not end within {access.patience_seconds:g} s")
        chunks.append(chunk)
    return b"".join(chunks)


def _refusal(error: urllib.error.HTTPError, access: Access) -> SourceUnavailableError:
    if error.code // 100 == 3:
        words = "it redirects, which is not followed: give the address that it leads to"
        return SourceUnavailableError(SOURCE, f"{access.name} answered {error.code}: {words}")
    body = error.read(MOST_ERROR_BYTES).decode(errors="replace")
    try:
        said = str(json.loads(body)["error"])
    except (ValueError, LookupError, TypeError, RecursionError):
        said = body or str(error.reason)
    kind = SourceUnavailableError
    if error.code in (SERVICE_UNAVAILABLE, UNPROCESSABLE) and any(words in said for words in TOO_MUCH_WORDS):
        kind = TooMuchError
    return kind(SOURCE, f"{access.name} answered {error.code}: {_plain(said, access)}")


def _plain(text: str, access: Access) -> str:
    """Return words as one short line, without the token, should a server repeat it."""
    shown = text.replace(access.token, "***") if access.token else text
    return " ".join(shown.split())[:MOST_SHOWN] or "nothing"
