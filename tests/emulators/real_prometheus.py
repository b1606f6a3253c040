"""Debian's Prometheus as a child, with a configuration of the test's own."""

import json
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PROMETHEUS, PROMTOOL = shutil.which("prometheus"), shutil.which("promtool")
NOT_INSTALLED = "prometheus and promtool are not installed (Debian: apt-get install prometheus)"

PATIENCE_SECONDS = 60.0


class RealPrometheus:
    """Runs while its block does.

    Attributes
    ----------
    url : str
        Where it answers.
    """

    def __init__(self, config: Path, folder: Path) -> None:
        self._config, self._folder = config, folder
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._log = (self._folder / "prometheus.log").open("wb")
        self._child = subprocess.Popen(
            [
                str(PROMETHEUS),
                f"--config.file={self._config}",
                f"--storage.tsdb.path={self._folder / 'tsdb'}",
                f"--web.listen-address=127.0.0.1:{self._port}",
                "--log.level=warn",
            ],
            stdout=self._log,
            stderr=self._log,
        )
        self.wait_for(self._is_ready, "it to be ready")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.terminate()
        self._child.wait(timeout=PATIENCE_SECONDS)
        self._log.close()

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the result of an instant query; a refused one raises ``urllib.error.HTTPError``."""
        form = urllib.parse.urlencode({"query": expression}).encode()
        with urllib.request.urlopen(f"{self.url}/api/v1/query", data=form, timeout=10) as answer:  # noqa: S310
            found: dict[str, Any] = json.load(answer)["data"]
        return found["result"] if found["resultType"] != "scalar" else [{"value": found["result"]}]

    def wait_for(self, is_there: Callable[[], object], what: str) -> None:
        """Wait until something holds; fail with the server's log where it never does."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_there():
            if time.monotonic() > deadline or self._child.poll() is not None:
                log = (self._folder / "prometheus.log").read_text(errors="replace")
                raise AssertionError(f"waited for {what} in vain:\n{log}")
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=2):  # noqa: S310
                return True
        except OSError:
            return False


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
