"""The server as a command has it: a real port, a real stream, and a stop that waits for nobody."""

import socket
import threading
from pathlib import Path

import httpx
import pytest

from app.serving_book import ACCESS, BEARER, replayed_batches, watched
from flopwitness.app.serving.attach import serving
from flopwitness.app.serving.events import Pace
from flopwitness.app.serving.places import Place
from flopwitness.app.serving.server import Server
from flopwitness.core.errors import BadInputError

BOOK, _ = watched(replayed_batches("h200x2-b")[:20])


def test_a_free_port_is_taken_and_the_url_opens_the_page():
    """The token stands in the fragment, which no browser sends."""
    with serving("127.0.0.1:0", None, BOOK) as url:
        address, _, token = url.partition("#token=")
        shell = httpx.get(address)
        locked = httpx.get(f"{address}api/snapshot")
        opened = httpx.get(f"{address}api/snapshot", headers={"authorization": f"Bearer {token}"})

    assert (shell.status_code, locked.status_code, opened.status_code) == (200, 401, 200)
    assert "server" not in shell.headers
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)


def test_events_come_over_the_wire():
    """As a stream that ends with the server, at once."""
    with Server(BOOK, ACCESS, Place.of("127.0.0.1:0"), pace=Pace(look_seconds=0.01)) as server:
        with httpx.stream("GET", f"{server.place.url}api/events", headers=BEARER) as answer:
            lines = answer.iter_lines()
            found = [next(lines) for _ in range(5)]
        assert answer.headers["content-type"] == "text/event-stream"

    assert found[0] == "retry: 1000"
    assert found[3] == "event: now"


def test_a_client_that_reads_nothing_is_dropped():
    """Its connection does not keep its place."""
    book, daemon = watched(replayed_batches("h200x2-b")[:20])
    pace = Pace(look_seconds=0.001, patience_seconds=0.2)
    with Server(book, ACCESS, Place.of("127.0.0.1:0"), pace=pace) as server:
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect((server.place.host, server.place.port))
        lines = (
            "GET /api/events HTTP/1.1",
            "Host: localhost",
            f"Authorization: {BEARER['authorization']}",
            "",
            "",
        )
        raw.sendall("\r\n".join(lines).encode())
        came = left = False
        pause = threading.Event()
        for _ in range(3000):
            book.take(daemon)
            pause.wait(0.003)
            came = came or server.events.n_readers == 1
            left = came and server.events.n_readers == 0
            if left:
                break
        raw.close()

    assert came
    assert left


def test_nothing_is_logged(capfd: pytest.CaptureFixture[str]):
    """Neither tokens nor addresses reach standard output or error."""
    with serving("127.0.0.1:0", None, BOOK) as url:
        address, _, token = url.partition("#token=")
        httpx.get(f"{address}api/snapshot?token={token}", headers={"authorization": f"Bearer {token}"})
        httpx.post(f"{address}api/login", json={"token": token})
        httpx.get(f"{address}api/history?points=x", headers={"authorization": f"Bearer {token}"})

    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_beyond_loopback_needs_a_token_file(tmp_path: Path):
    """Nobody opens a port to others by a slip."""
    with pytest.raises(BadInputError, match="--token-file"), serving("0.0.0.0:0", None, BOOK):
        pass

    path = tmp_path / "token"
    path.write_text(ACCESS.token)
    path.chmod(0o600)
    with serving("0.0.0.0:0", path, BOOK) as url:
        assert httpx.get(url.partition("#")[0] + "api/snapshot", headers=BEARER).status_code == 200
