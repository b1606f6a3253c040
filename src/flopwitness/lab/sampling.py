"""Sample in a thread of the parent while ranks compute elsewhere."""

import threading
import time
from collections import defaultdict

from flopwitness.core.ports import Sampler
from flopwitness.core.trace import Trace, joined


class SamplingThread:
    """Asks a sampler at a steady beat and keeps what it answers.

    Parameters
    ----------
    sampler : Sampler
        Whatever was handed over; closed by who made it.
    interval_seconds : float
        Time between two samples; a beat that was missed is left out, not caught up with.

    Attributes
    ----------
    problems : dict
        What went wrong, and how often.
    """

    def __init__(self, sampler: Sampler, *, interval_seconds: float) -> None:
        self.sampler = sampler
        self.interval_seconds = interval_seconds
        self.problems: dict[str, int] = defaultdict(int)
        self._pieces: dict[str, list[Trace]] = {}
        self._lock = threading.Lock()
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the sample under way."""
        self._enough.set()
        self._thread.join(timeout=10)

    def traces(self) -> tuple[Trace, ...]:
        """Return everything so far, one trace a device."""
        with self._lock:
            taken = {uuid: list(pieces) for uuid, pieces in self._pieces.items() if pieces}
        whole = {uuid: joined(pieces) for uuid, pieces in taken.items()}
        with self._lock:
            for uuid, pieces in taken.items():
                self._pieces[uuid] = [whole[uuid], *self._pieces[uuid][len(pieces) :]]
        return tuple(whole.values())

    def _loop(self) -> None:
        beat = time.monotonic()
        while not self._enough.is_set():
            self._sample()
            n_missed = int((time.monotonic() - beat) / self.interval_seconds)
            if n_missed:
                self.problems["a beat that was missed"] += n_missed
            beat += (n_missed + 1) * self.interval_seconds
            self._enough.wait(max(0.0, beat - time.monotonic()))

    def _sample(self) -> None:
        try:
            answered = self.sampler.sample()
        except Exception as error:  # noqa: BLE001  one bad answer must not end a recording
            self.problems[f"{type(error).__name__}: {error}"] += 1
            return
        with self._lock:
            for piece in answered:
                self._keep(piece)

    def _keep(self, piece: Trace) -> None:
        held = self._pieces.setdefault(piece.device.uuid, [])
        if not len(piece):
            return
        if held and piece.time_ns[0] <= held[-1].time_ns[-1]:
            self.problems["a sample that is not newer than the last"] += 1
            return
        held.append(piece)
