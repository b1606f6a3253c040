"""Instants for samples: the wall clock read once, then advanced by the clock that never jumps."""

import time
from collections.abc import Callable


class SteadyClock:
    """UTC nanoseconds that only grow, whatever happens to the wall clock meanwhile.

    Parameters
    ----------
    utc_ns, monotonic_ns : callable
        The two clocks, in nanoseconds; the machine's own by default.

    Notes
    -----
    The monotonic clock may drift against UTC; a recorder that stores both can undo it.

    Examples
    --------
    >>> clock = SteadyClock(utc_ns=lambda: 1_000, monotonic_ns=iter((50, 53, 60)).__next__)
    >>> clock(), clock()
    (1003, 1010)
    """

    def __init__(
        self,
        *,
        utc_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._monotonic_ns = monotonic_ns
        self._offset_ns = utc_ns() - monotonic_ns()

    def __call__(self) -> int:
        """Return the present instant, UTC nanoseconds."""
        return self._offset_ns + self._monotonic_ns()
