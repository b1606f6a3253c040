"""A server of Python's own on a free port of loopback, for as long as a ``with`` lasts."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class LoopbackServer:
    """Answers with a handler class that the subclass gives to ``start``.

    Attributes
    ----------
    address, url : str
        ``127.0.0.1:PORT``, and the same as an address of the web.
    """

    def start(self, handler: type[BaseHTTPRequestHandler]) -> None:
        """Begin to answer."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.address}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
