"""Who looks on while the daemon works: the terminal view, the page, metrics, telemetry exporters."""

from typing import Protocol

from flopwitness.app.daemon import Daemon, Finished


class Observer(Protocol):
    """Is shown the daemon after each batch, and each finished workload; changes nothing, may not wait."""

    def take(self, daemon: Daemon) -> None:
        """Take the daemon's latest batch."""
        ...

    def count(self, finished: Finished) -> None:
        """Take a finished workload, after it was kept."""
        ...

    def close(self) -> None:
        """Let go of what it holds; may be called twice."""
        ...
