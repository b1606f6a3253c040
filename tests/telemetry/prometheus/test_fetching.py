"""One request: bounded, never led elsewhere, and no message repeats the token."""

import socket
import threading
from collections.abc import Callable
from contextlib import contextmanager

import pytest

from emulators.prometheus_api import PretendedApi, Samples
from flopwitness.core.errors import BadInputError, FlopWitnessError
from flopwitness.telemetry.prometheus.fetching import Access, TooMuchError, fetched
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError

TOKEN = "s3cret-t0ken"  # noqa: S105  of a test
FORM = [("query", "up")]


def answering(status: int, body: bytes) -> PretendedApi:
    """Return an API that answers everything alike."""
    return PretendedApi(Samples(), answer=lambda *_: (status, body))


@contextmanager
def raw_server(serve: Callable[[socket.socket], None]):
    """Serve one connection by hand; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            connection, _ = listening.accept()
            with connection:
                serve(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("prefix", ["", "/", "/prometheus", "/prometheus/"])
def test_an_answer_comes_back_whole_from_behind_any_prefix(prefix: str):
    """The form is posted: a query of all names is too long for an address."""
    with answering(200, b"x" * 300_000) as api:
        found = fetched(Access(api.url + prefix, token=TOKEN), "/api/v1/query", FORM)

    assert found == b"x" * 300_000
    assert api.asked == [(f"{prefix.rstrip('/')}/api/v1/query", {"query": "up"})]
    assert api.tokens == [f"Bearer {TOKEN}"]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, TOKEN.encode()),
        (400, f'{{"status":"error","error":"no such thing as {TOKEN}"}}'.encode()),
        (500, b"<html>\n" + TOKEN.encode()),
        (302, b"http://elsewhere.invalid/"),
    ],
)
def test_a_refusal_is_one_line_without_the_token(status: int, body: bytes):
    """Also where the server repeats it."""
    with answering(status, body) as api, pytest.raises(SourceUnavailableError, match=str(status)) as caught:
        fetched(Access(api.url, token=TOKEN), "/api/v1/query", FORM)

    assert TOKEN not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_redirect_is_not_followed():
    """It would carry the token to whoever it names."""
    with answering(200, b"stolen") as thief, answering(307, thief.url.encode()) as api:
        with pytest.raises(SourceUnavailableError, match="redirects"):
            fetched(Access(api.url, token=TOKEN), "/api/v1/query", FORM)

        assert thief.asked == []


def test_nobody_there_is_one_line():
    """The host is named, the token is not."""
    with pytest.raises(SourceUnavailableError, match=r"127\.0\.0\.1:9: connection refused|refused") as caught:
        fetched(Access("http://127.0.0.1:9", token=TOKEN), "/api/v1/query", FORM)

    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    "said",
    ["query processing would load too many samples into memory", "query timed out in expression evaluation"],
)
def test_a_server_that_cannot_answer_so_much_is_told_apart(said: str):
    """A shorter stretch may be answered."""
    body = f'{{"status":"error","errorType":"execution","error":"{said}"}}'.encode()

    with answering(422, body) as api, pytest.raises(TooMuchError, match="422"):
        fetched(Access(api.url), "/api/v1/query", FORM)


def test_an_answer_that_is_too_large_is_given_up():
    """Memory is bounded, whatever a server sends."""
    with answering(200, b"x" * 200_000) as api, pytest.raises(TooMuchError, match="100,000 bytes"):
        fetched(Access(api.url, most_bytes=100_000), "/api/v1/query", FORM)


def test_a_server_that_is_silent_is_given_up():
    """It accepts, and never answers."""
    released = threading.Event()

    with raw_server(lambda _: released.wait(10) and None) as url:  # type: ignore[func-returns-value]
        with pytest.raises(TooMuchError, match="did not answer"):
            fetched(Access(url, patience_seconds=0.2), "/api/v1/query", FORM)
        released.set()


def test_a_server_that_drips_is_given_up():
    """A byte now and then is no answer."""
    released = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(200):
            if released.wait(0.02):
                return
            connection.sendall(b" ")

    with raw_server(drip) as url:
        with pytest.raises(TooMuchError, match="did not end"):
            fetched(Access(url, patience_seconds=0.3), "/api/v1/query", FORM)
        released.set()


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host",
        "host:9090",
        "http://",
        f"http://user:{TOKEN}@host:9090",
        f"http://host:9090/?token={TOKEN}",
        "http://host:9090/#x",
        "",
    ],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused(url: str):
    """A password in an address would end up in logs; the message does not repeat it."""
    with pytest.raises(BadInputError) as caught:
        Access(url)

    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("token", ["a b", "a\nb", "ä", "a\x00"])
def test_a_token_that_could_break_out_of_its_header_is_refused(token: str):
    """The message does not repeat it."""
    with pytest.raises(FlopWitnessError) as caught:
        Access("http://host", token=token)

    assert token not in str(caught.value)


def test_shown_it_holds_no_token():
    """Also in a traceback."""
    assert TOKEN not in repr(Access("http://host:1/p", token=TOKEN))
