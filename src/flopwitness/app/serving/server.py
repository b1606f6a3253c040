"""A server in a thread of its own, beside the daemon that fills the book."""

import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn

from flopwitness.app.serving.access import Access
from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.events import Events, Pace
from flopwitness.app.serving.guard import Guard
from flopwitness.app.serving.places import Place
from flopwitness.app.serving.routes import application
from flopwitness.core.errors import FlopWitnessError

MAX_CONNECTIONS = 128
STUCK_MILLISECONDS = 30_000
"""The kernel gives up a connection whose other side takes nothing for so long (tcp(7), TCP_USER_TIMEOUT)."""

START_SECONDS, STOP_SECONDS = 20.0, 5.0


class Server:
    """Serves a book while its block runs. Nothing is logged: addresses hold no token, and headers do.

    Parameters
    ----------
    book : LiveBook
        What is served.
    access : Access
        Who may read.
    place : Place
        Where.
    pace : Pace or None
        How fast events go out.

    Attributes
    ----------
    place : Place
        Where it really listens.
    events : Events
        Its streams.
    """

    def __init__(self, book: LiveBook, access: Access, place: Place, *, pace: Pace | None = None) -> None:
        self._socket = place.socket()
        self.place = place.at_port(self._socket.getsockname()[1])
        self.events = Events(book, pace=pace)
        app = Guard(application(book, access, self.place, self.events), access, self.place)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STUCK_MILLISECONDS)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                limit_concurrency=MAX_CONNECTIONS,
                timeout_graceful_shutdown=1,
                h11_max_incomplete_event_size=16_384,
            )
        )
        self._thread = threading.Thread(target=self._run, name="flopwitness-server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        deadline = threading.Event()
        waited = 0.0
        while not self._server.started and self._thread.is_alive() and waited < START_SECONDS:
            deadline.wait(0.01)
            waited += 0.01
        if not self._server.started:
            self._socket.close()
            raise FlopWitnessError(f"the server at {self.place.url} did not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.events.is_closing = True
        self._server.should_exit = True
        self._thread.join(STOP_SECONDS)
        self._socket.close()

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])
