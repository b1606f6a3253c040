"""Events: the newest state to each reader, nobody waits for the slow, nothing piles up."""

import asyncio
import json
from itertools import pairwise
from typing import Any

from app.serving_book import replayed_batches, watched
from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.events import Events, Pace

BATCHES = replayed_batches("h200x2-b")
QUICK = Pace(look_seconds=0.001, beat_seconds=0.05, patience_seconds=0.05)


class Reader:
    """Stands for a browser: takes so many bodies, then leaves or hangs."""

    def __init__(
        self, n_bodies: int, *, hangs: bool = False, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        self.scope: dict[str, Any] = {"type": "http", "headers": list(headers)}
        self._n_bodies, self._hangs = n_bodies, hangs
        self._gone = asyncio.Event()
        self.status = 0
        self.bodies: list[bytes] = []

    async def receive(self) -> dict[str, Any]:
        """Wait until it leaves."""
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        """Take a message."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        if self._hangs and len(self.bodies) >= self._n_bodies:
            await asyncio.Event().wait()
        self.bodies.append(message["body"])
        if len(self.bodies) >= self._n_bodies and not self._hangs:
            self._gone.set()

    @property
    def states(self) -> list[dict[str, Any]]:
        """The events that it got."""
        bodies = [body.decode() for body in self.bodies if b"event: now" in body]
        return [json.loads(body.split("data: ")[1]) for body in bodies]


def served(events: Events, *readers: Reader) -> None:
    """Serve readers at once until all are gone."""

    async def serve() -> None:
        await asyncio.gather(*(events(one.scope, one.receive, one.send) for one in readers))

    asyncio.run(asyncio.wait_for(serve(), 10))


def book_with(n_batches: int) -> LiveBook:
    """Return a book that saw some batches."""
    return watched(BATCHES[:n_batches])[0]


def test_a_reader_gets_the_newest_state_at_once():
    """With the curves of the last minutes."""
    book = book_with(20)
    reader = Reader(2)

    served(Events(book, pace=QUICK), reader)

    [state] = reader.states
    assert state["version"] == book.version
    assert set(state["curves"]) == {one.uuid for one in book.snapshot.devices}


def test_a_reader_that_comes_back_and_missed_nothing_gets_a_beat_only():
    """It says the last event's id, as browsers do."""
    book = book_with(3)
    reader = Reader(2, headers=((b"last-event-id", str(book.version).encode()),))

    served(Events(book, pace=QUICK), reader)

    assert reader.states == []
    assert b"event: beat" in reader.bodies[1]


def test_a_reader_that_comes_back_later_gets_the_newest_state():
    """And one that says nonsense, too."""
    for seen in (b"1", b"x", b"9" * 40):
        reader = Reader(2, headers=((b"last-event-id", seen),))
        served(Events(book_with(3), pace=QUICK), reader)
        assert len(reader.states) == 1


def test_a_reader_that_takes_nothing_is_dropped_and_holds_up_nobody():
    """Its place is free again, and the quick one got everything meanwhile."""
    events = Events(book_with(3), pace=QUICK)
    slow, quick = Reader(1, hangs=True), Reader(3)

    served(events, slow, quick)

    assert len(slow.bodies) == 1
    assert len(quick.states) == 1
    assert events.n_readers == 0


def test_readers_beyond_the_limit_are_told_to_come_back():
    """503; those who are there stay."""
    events = Events(book_with(3), max_readers=2, pace=QUICK)
    readers = [Reader(3), Reader(3), Reader(3)]

    served(events, *readers)

    assert sorted(reader.status for reader in readers) == [200, 200, 503]


def test_a_state_is_encoded_once_for_all_readers():
    """Between two looks the same bytes go to everybody."""
    events = Events(book_with(3))

    assert events.latest()[1] is events.latest()[1]


def test_events_overlap_so_that_a_skipped_one_costs_nothing():
    """The curves of an event go back beyond the event before."""
    book, daemon = watched(BATCHES[:10])
    events = Events(book, pace=QUICK)
    states = []
    for batch in BATCHES[10:14]:
        events.latest()
        daemon._take(batch)
        book.take(daemon)
        events._sent[-1] = (-1e9, events._sent[-1][1])  # long ago, as the clock goes
        states.append(json.loads(events.latest()[1].decode().split("data: ")[1]))

    for before, after in pairwise(states):
        assert after["since"] <= before["at"]
        first = next(iter(after["curves"].values()))["start"]
        assert first <= after["since"]


def test_streams_end_when_the_server_closes():
    """Without waiting for a reader to leave."""
    events = Events(book_with(3), pace=QUICK)
    events.is_closing = True
    reader = Reader(99)

    served(events, reader)

    assert events.n_readers == 0
