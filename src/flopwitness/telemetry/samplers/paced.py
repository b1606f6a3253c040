"""One thread reads all devices at even instants; a device that hangs keeps that thread, and another goes on.

Waking a thread costs more than a quick reading, most of all on a processor that has slept meanwhile: in one
thread the second device is read while everything is still at hand. Where readings are slow, ``workers`` asks
all devices at once.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from flopwitness.core.trace import NANOSECONDS_PER_SECOND

Answer = TypeVar("Answer")


class PacedReader(Generic[Answer]):
    """Read devices in turn, round after round, and keep the answers until they are fetched.

    Round n is due at start + n x interval; rounds that passed while one was late are skipped and counted.

    Parameters
    ----------
    tasks : mapping of str to callable
        What reads each device, by name. A task is never called again before its last call came back.
    interval_seconds : float
        From round to round, > 0.
    patience_seconds : float
        How long a device may take before the others go on without it, > 0.

    Attributes
    ----------
    n_missed : int
        Rounds that were skipped.

    Notes
    -----
    The threads are daemons: a device that never comes back cannot keep the program from ending.
    """

    def __init__(
        self, tasks: Mapping[str, Callable[[], Answer]], *, interval_seconds: float, patience_seconds: float
    ) -> None:
        self.n_missed = 0
        self._tasks = dict(tasks)
        self._answers: dict[str, deque[Answer]] = {name: deque() for name in tasks}
        self._interval_ns = round(interval_seconds * NANOSECONDS_PER_SECOND)
        self._patience_seconds = patience_seconds
        self._fault: Exception | None = None
        self._held: set[str] = set()
        self._under_way: tuple[str, float] | None = None
        self._hand_over = threading.Lock()
        self._closing = threading.Lock()
        self._closing.acquire()  # whoever gets it has been told to end: waiting for a lock is cheapest
        self._closed = False
        self._start_ns = time.monotonic_ns()
        self._threads: list[threading.Thread] = []
        self._start_thread()

    @property
    def hung(self) -> frozenset[str]:
        """Devices that the others go on without."""
        return frozenset(self._held)

    def fetch(self) -> dict[str, list[Answer]]:
        """Return the answers since the last call, by device, oldest first.

        Raises
        ------
        Exception
            What a task raised.
        """
        self._pass_by_hung()
        if self._fault is not None:
            raise self._fault
        return {name: [kept.popleft() for _ in range(len(kept))] for name, kept in self._answers.items()}

    def close(self, patience_seconds: float = 1.0) -> bool:
        """Stop reading; say whether all threads came back. May be called twice."""
        if not self._closed:
            self._closed = True
            self._closing.release()
        deadline = time.monotonic() + patience_seconds
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in self._threads)

    def _start_thread(self) -> None:
        self._turn = threading.Thread(target=self._serve, name="sampler", daemon=True)
        self._threads = [*(thread for thread in self._threads if thread.is_alive()), self._turn]
        self._turn.start()

    def _pass_by_hung(self) -> None:
        """Leave a device that hangs to the thread that waits for it, and start another for the rest."""
        with self._hand_over:
            if self._under_way is None or time.monotonic() - self._under_way[1] <= self._patience_seconds:
                return
            self._held.add(self._under_way[0])
            self._under_way = None
            self._start_thread()

    def _serve(self) -> None:
        due_ns = self._next_due_ns()
        while not self._closing.acquire(
            timeout=max(due_ns - time.monotonic_ns(), 0) / NANOSECONDS_PER_SECOND
        ):
            for name in self._tasks:
                if name not in self._held and not self._read(name):
                    return
            last_ns, due_ns = due_ns, self._next_due_ns(due_ns)
            self.n_missed += (due_ns - last_ns) // self._interval_ns - 1
        self._closing.release()

    def _read(self, name: str) -> bool:
        """Read a device; return False where another thread has gone on meanwhile."""
        self._under_way = (name, time.monotonic())
        try:
            self._answers[name].append(self._tasks[name]())
        except Exception as error:  # noqa: BLE001  it is raised again where the answers are fetched
            self._fault = error
        with self._hand_over:
            if self._turn is threading.current_thread():
                self._under_way = None
                return True
            self._held.discard(name)
            return False

    def _next_due_ns(self, last_ns: int = -1) -> int:
        """Return the newest round that is due, or else the next one; after ``last_ns``."""
        n_passed = (time.monotonic_ns() - self._start_ns) // self._interval_ns
        return max(self._start_ns + n_passed * self._interval_ns, last_ns + self._interval_ns)


def _seconds_until(monotonic_ns: int) -> float:
    return max(monotonic_ns - time.monotonic_ns(), 0) / NANOSECONDS_PER_SECOND
