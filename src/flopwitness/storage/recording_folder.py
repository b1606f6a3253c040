"""A folder of recordings under plain names; implements ``RecordingStore``."""

import re
from dataclasses import dataclass
from pathlib import Path

from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Recording
from flopwitness.storage.recordings import read_recording, read_summary, write_recording

SUFFIX = ".parquet"

NAME_PATTERN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
"""A name is one file in the folder: no separators, no leading dot, nothing that a shell would read."""


@dataclass(frozen=True, slots=True)
class RecordingFolder:
    """Keeps each recording as ``<name>.parquet`` in one folder.

    Parameters
    ----------
    folder : Path
        An existing folder; nothing outside it is ever touched.
    """

    folder: Path

    def write(self, name: str, recording: Recording) -> None:
        """Keep a recording; ``BadInputError`` where the name is taken or is none."""
        write_recording(self._path(name), recording)

    def read(self, name: str) -> Recording:
        """Return what was written, bit for bit; ``BadInputError`` where there is nothing readable."""
        return read_recording(self._path(name))

    def names(self) -> tuple[str, ...]:
        """Return the names that can be read, sorted; other files in the folder are passed over."""
        found = (path.name.removesuffix(SUFFIX) for path in Path(self.folder).glob(f"*{SUFFIX}"))
        return tuple(sorted(name for name in found if self._is_readable(name)))

    def _path(self, name: str) -> Path:
        if not NAME_PATTERN.fullmatch(name):
            raise BadInputError(
                str(self.folder), "name", expected="letters, digits, dots, dashes", got=repr(name)
            )
        return Path(self.folder) / f"{name}{SUFFIX}"

    def _is_readable(self, name: str) -> bool:
        try:
            read_summary(self._path(name))
        except BadInputError:
            return False
        return True
