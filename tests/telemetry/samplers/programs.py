"""Small programs that stand in for vendors' tools: they print what a state file says, over and over."""

import json
import os
import sys
from pathlib import Path

LOOP = """#!{python}
import json, sys, time
state = lambda: json.loads(open({state!r}).read())
{body}
"""


class Programs:
    """A folder of fake tools, first on PATH until it is closed, and the state that they print.

    Parameters
    ----------
    folder : Path
        Where the tools and their state lie.
    watts : dict of str to float or None
        Power of each device; None is a blank. A device that is missing is not printed.
    """

    def __init__(self, folder: Path, watts: dict[str, float | None]) -> None:
        self._bin = folder / "bin"
        self._bin.mkdir(parents=True)
        self._state = folder / "state.json"
        self.watts = watts
        self.save()
        self._path = os.environ["PATH"]
        os.environ["PATH"] = f"{self._bin}{os.pathsep}{self._path}"

    def add(self, name: str, body: str) -> None:
        """Write a tool: Python that may call ``state()`` and use ``json``, ``sys`` and ``time``."""
        path = self._bin / name
        path.write_text(
            LOOP.format(python=sys.executable, state=str(self._state), body=body), encoding="utf-8"
        )
        path.chmod(0o755)

    def save(self) -> None:
        """Have the tools see the present state, all of it or none."""
        draft = self._state.with_suffix(".draft")
        draft.write_text(json.dumps(self.watts), encoding="utf-8")
        draft.replace(self._state)

    def show(self, uuid: str, watts: float | None) -> None:
        """Have a device draw this much; None is a blank."""
        self.watts[uuid] = watts
        self.save()

    def lose(self, uuid: str) -> None:
        """Have a device no longer printed."""
        del self.watts[uuid]
        self.save()

    def stop(self) -> None:
        """Take the tools off PATH."""
        os.environ["PATH"] = self._path
