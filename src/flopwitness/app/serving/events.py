"""Server-sent events: one a batch, for any number of readers up to a limit, none of whom can hold up another.

A reader has no queue: whoever is slow gets the newest state when it is ready again, and whoever takes
nothing for a while is dropped. An event carries the whole state but for lists that rarely change, so a
reader that comes back needs nothing that it missed but the curves.
"""

import asyncio
import json
import time
from collections import deque
from dataclasses import dataclass

from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.payload import curves_object, now_object, seconds
from flopwitness.core.trace import NANOSECONDS_PER_SECOND

LIVE_STEP_SECONDS = 1.0
"""Step of the curves in events."""

MAX_LIVE_STEPS = 120
"""Of one event; where more is missing a reader asks for the history."""

OVERLAP_SECONDS = 2.0
"""Each event repeats the curves since so long ago: who skips one misses nothing."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast events go out, in seconds.

    Attributes
    ----------
    look_seconds : float
        How often the book is looked at; events do not come faster.
    beat_seconds : float
        A comment is sent after so long without an event, so that both sides notice a dead connection.
    patience_seconds : float
        A reader that takes nothing for so long is dropped.
    """

    look_seconds: float = 0.2
    beat_seconds: float = 5.0
    patience_seconds: float = 15.0


class Events:
    """An ASGI application that streams a book.

    Parameters
    ----------
    book : LiveBook
        What is streamed.
    max_readers : int
        At once; others get 503.
    pace : Pace
        How fast.

    Attributes
    ----------
    n_readers : int
        How many there are.
    is_closing : bool
        Set it to end all streams.
    """

    def __init__(self, book: LiveBook, *, max_readers: int = 16, pace: Pace | None = None) -> None:
        self._book, self._max_readers, self._pace = book, max_readers, pace or Pace()
        self._version, self._encoded = -1, b""
        self._sent: deque[tuple[float, int]] = deque([(-OVERLAP_SECONDS, 0)])
        self.n_readers = 0
        self.is_closing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream to one reader until it leaves, is too slow, or all is over."""
        if self.n_readers >= self._max_readers:
            refused = PlainTextResponse("too many readers\n", 503, {"retry-after": "10"})
            await refused(scope, receive, send)
            return
        self.n_readers += 1
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await self._stream(send, leaving, _last_seen(scope))
        except TimeoutError:
            return
        finally:
            leaving.cancel()
            self.n_readers -= 1

    async def _stream(self, send: Send, leaving: "asyncio.Future[None]", seen: int) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._put(send, b"retry: 1000\n\n")
        silent_seconds = 0.0
        while not (leaving.done() or self.is_closing):
            version, data = self.latest()
            if version != seen:
                await self._put(send, data)
                seen, silent_seconds = version, 0.0
            elif silent_seconds >= self._pace.beat_seconds:
                await self._put(send, b"event: beat\ndata: {}\n\n")
                silent_seconds = 0.0
            await asyncio.sleep(self._pace.look_seconds)
            silent_seconds += self._pace.look_seconds
        await self._put(send, b"", more=False)

    async def _put(self, send: Send, data: bytes, *, more: bool = True) -> None:
        message: Message = {"type": "http.response.body", "body": data, "more_body": more}
        await asyncio.wait_for(send(message), self._pace.patience_seconds)

    def latest(self) -> tuple[int, bytes]:
        """Return the newest state and its version, encoded for all readers, once in ``look_seconds``."""
        now = time.monotonic()
        is_due = self._version < 0 or now - self._sent[-1][0] >= self._pace.look_seconds
        if is_due and self._book.version != self._version:
            content = now_object(self._book) | self._curves(now)
            self._version = content["version"]
            data = json.dumps(content, allow_nan=False, separators=(",", ":"))
            self._encoded = f"id: {self._version}\nevent: now\ndata: {data}\n\n".encode()
        return self._version, self._encoded

    def _curves(self, wall_seconds: float) -> dict[str, object]:
        """Return the latest curves; ``since`` lets a reader see whether it missed what came before."""
        now = self._book.snapshot
        step_ns = round(LIVE_STEP_SECONDS * NANOSECONDS_PER_SECOND)
        while len(self._sent) > 1 and self._sent[1][0] <= wall_seconds - OVERLAP_SECONDS:
            self._sent.popleft()
        since_ns = max(self._sent[0][1], now.at_ns - MAX_LIVE_STEPS * step_ns)
        start_ns = since_ns // step_ns * step_ns  # the step that was not over is sent again
        self._sent.append((wall_seconds, now.at_ns))
        uuids = [one.uuid for one in now.devices]
        n_steps = max(-(-(now.at_ns - start_ns) // step_ns), 1)
        curves = self._book.history(uuids, start_ns, start_ns + n_steps * step_ns, n_steps)
        return {"since": seconds(since_ns), "curves": curves_object(curves)}


async def _left(receive: Receive) -> None:
    """Return when the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _last_seen(scope: Scope) -> int:
    """Return the version that a reader who comes back saw last; -1 where it saw none."""
    given = next((value for name, value in scope["headers"] if name == b"last-event-id"), b"")
    return int(given) if given.isdigit() and len(given) < 16 else -1
