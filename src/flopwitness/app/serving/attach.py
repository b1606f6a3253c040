"""The one door for commands: serve what a book holds for as long as a block runs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from flopwitness.app.serving.access import Access
from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.places import Place
from flopwitness.app.serving.server import Server


@contextmanager
def serving(
    listen: str, token_file: Path | None, book: LiveBook, *, names: Sequence[str] = ()
) -> Iterator[str]:
    """Serve the page, ``/metrics`` and the API; yield the URL to open, the token in its fragment.

    Parameters
    ----------
    listen : str
        ``HOST:PORT``; port 0 takes a free one. Another host than a loopback address needs a token file: it is
        what says that this is meant.
    token_file : Path or None
        Holds the token; one is made where None.
    book : LiveBook
        What is served; the caller hands it to the daemon, and closes it.
    names : sequence of str
        Host names that clients may call this machine by, beside ``localhost``, its own name and addresses.

    Raises
    ------
    BadInputError
        When the address or the token file cannot be used.
    """
    access = Access.of(token_file)
    place = Place.of(listen, names=names, is_meant=token_file is not None)
    with Server(book, access, place) as server:
        yield f"{server.place.url}#token={access.token}"
