"""Places: loopback unless something else is meant, and called by no foreign name."""

import pytest

from flopwitness.app.cli.serve import LISTEN
from flopwitness.app.serving.places import DEFAULT_LISTEN, Place
from flopwitness.core.errors import BadInputError


@pytest.mark.parametrize(
    ("listen", "url"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ("localhost:1", "http://localhost:1/"),
        ("[::1]:9", "http://[::1]:9/"),
        ("127.8.8.8:0", "http://127.8.8.8:0/"),
    ],
)
def test_loopback_is_served_without_more_words(listen: str, url: str):
    """By address or as localhost."""
    assert Place.of(listen).url == url


@pytest.mark.parametrize("listen", ["0.0.0.0:80", "[::]:80", "10.0.0.7:80", "192.168.1.2:0"])
def test_beyond_loopback_it_must_be_meant(listen: str):
    """The message says how to say so; then it is done."""
    with pytest.raises(BadInputError, match="--token-file"):
        Place.of(listen)

    assert Place.of(listen, is_meant=True).port in {0, 80}


@pytest.mark.parametrize(
    "listen",
    [
        "",
        ":80",
        "80",
        "localhost",
        "127.0.0.1:",
        "127.0.0.1:x",
        "host.example:80",
        "::1:99999",
        "127.0.0.1:70000",
    ],
)
def test_what_is_no_address_is_refused(listen: str):
    """One line; names other than localhost are not looked up."""
    with pytest.raises(BadInputError, match="--listen"):
        Place.of(listen, is_meant=True)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:8080", True),
        ("LOCALHOST:8080", True),
        ("[::1]:8080", True),
        ("10.1.2.3", True),
        ("metrics.cluster.local:80", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example:8080", False),
        ("", False),
    ],
)
def test_only_addresses_and_own_names_are_answered(host: str, expected: bool):
    """A name that somebody rebinds to our address stays theirs."""
    assert Place.of("127.0.0.1:8080", names=["metrics.cluster.local"]).is_called(host) is expected


def test_a_taken_port_is_refused_with_a_line():
    """No traceback."""
    with Place.of("127.0.0.1:0").socket() as taken:
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(BadInputError, match="in use"):
            Place.of(f"127.0.0.1:{port}").socket()


def test_the_command_listens_where_the_server_does():
    """The command does not import the server for it."""
    assert LISTEN == DEFAULT_LISTEN
