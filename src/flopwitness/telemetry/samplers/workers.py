"""One thread a device: a slow or hung device costs its own answer, never that of its neighbours."""

import threading
import time
from collections.abc import Callable, Mapping
from enum import Enum
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Ask(Enum):
    """What a thread is told."""

    SAMPLE = "sample"
    STOP = "stop"


class Workers(Generic[Answer]):
    """Ask every device at once and wait for the answers, but not for ever.

    Parameters
    ----------
    tasks : mapping of str to callable
        What asks each device, by name. A task is never called again before its last call came back.

    Notes
    -----
    The threads are daemons: a device that never comes back cannot keep the program from ending.
    """

    def __init__(self, tasks: Mapping[str, Callable[[], Answer]]) -> None:
        self._answers: SimpleQueue[tuple[str, Answer | Exception]] = SimpleQueue()
        self._asks: dict[str, SimpleQueue[Ask]] = {name: SimpleQueue() for name in tasks}
        self._busy: set[str] = set()
        self._threads = {
            name: threading.Thread(target=self._serve, args=(name, task), name=name, daemon=True)
            for name, task in tasks.items()
        }
        for thread in self._threads.values():
            thread.start()

    def ask(self, patience_seconds: float) -> dict[str, Answer]:
        """Return the answers that came in time, by name, those of an earlier question included.

        Parameters
        ----------
        patience_seconds : float
            How long to wait for what is asked now, > 0. What is still out from an earlier question is taken
            when it is there and not waited for.

        Raises
        ------
        Exception
            What a task raised, once the other answers are in.
        """
        found: dict[str, Answer | Exception] = {}
        waiting = set(self._asks) - self._busy
        for name in waiting:
            self._busy.add(name)
            self._asks[name].put(Ask.SAMPLE)
        deadline = time.monotonic() + patience_seconds
        while waiting and (left := deadline - time.monotonic()) > 0:
            waiting -= self._take(found, left)
        while self._take(found, 0.0):
            pass
        for answer in found.values():
            if isinstance(answer, Exception):
                raise answer
        return {name: answer for name, answer in found.items() if not isinstance(answer, Exception)}

    def close(self, patience_seconds: float = 1.0) -> bool:
        """Stop the threads; say whether all of them came back. May be called twice."""
        for name in self._asks:
            self._asks[name].put(Ask.STOP)
        deadline = time.monotonic() + patience_seconds
        for thread in self._threads.values():
            thread.join(max(deadline - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in self._threads.values())

    def _take(self, found: dict[str, Answer | Exception], timeout_seconds: float) -> set[str]:
        try:
            if timeout_seconds > 0:
                name, answer = self._answers.get(timeout=timeout_seconds)
            else:
                name, answer = self._answers.get_nowait()
        except Empty:
            return set()
        self._busy.discard(name)
        found[name] = answer
        return {name}

    def _serve(self, name: str, task: Callable[[], Answer]) -> None:
        while self._asks[name].get() is Ask.SAMPLE:
            try:
                self._answers.put((name, task()))
            except Exception as error:  # noqa: BLE001  it is raised again where the answer is awaited
                self._answers.put((name, error))
