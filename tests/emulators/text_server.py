"""A small HTTP server that serves whatever a function gives, and keeps what it gave and when."""

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

from emulators.loopback import LoopbackServer

TEXT = "text/plain; version=0.0.4; charset=utf-8"


class TextServer(LoopbackServer):
    """Answers each GET with what ``render`` returns then; a token, where one is given, is asked for.

    Attributes
    ----------
    address : str
        Host and port.
    served : list of (int, bytes)
        When each answer was asked for, UTC nanoseconds, and what it was.
    """

    def __init__(self, render: Callable[[], bytes], *, token: str = "") -> None:
        served: list[tuple[int, bytes]] = []
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            """Serves the text."""

            def do_GET(self) -> None:
                """Answer a scrape."""
                if token and self.headers.get("Authorization") != f"Bearer {token}":
                    self.send_error(401)
                    return
                with lock:
                    body = render()
                    served.append((time.time_ns(), body))
                self.send_response(200)
                self.send_header("Content-Type", TEXT)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Keep the tests' output clean."""

        self.served = served
        self.start(Handler)
