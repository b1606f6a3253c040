"""One sampler a GPU: an advisory lock that the kernel lets go of when its holder ends, however it ends."""

import fcntl
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from flopwitness.core.errors import FlopWitnessError

EVERYBODY = 0o666
EVERYBODY_FOLDER = 0o1777
"""Locks hold for the machine, not for a user: each may open them, only the owner may delete."""


class GpuHeldError(FlopWitnessError):
    """Another process samples this GPU already."""


def lock_folder() -> Path:
    """Return where locks lie: ``/run/lock/flopwitness``, or the temporary folder where that is closed."""
    shared = Path("/run/lock")
    usable = shared.is_dir() and os.access(shared, os.W_OK)
    return (shared if usable else Path(tempfile.gettempdir())) / "flopwitness"


class GpuLocks:
    """Locks on some GPUs, held until closed.

    Parameters
    ----------
    uuids : iterable of str
        The GPUs.
    folder : Path
        Where the lock files lie; made where it is missing.

    Raises
    ------
    GpuHeldError
        When another sampler, of this process or another, holds one of them; then none is held.
    """

    def __init__(self, uuids: Iterable[str], folder: Path) -> None:
        self._descriptors: list[int] = []
        try:
            _make(folder)
            for uuid in uuids:
                self._descriptors.append(_locked(folder / f"{uuid.replace('/', '_')}.lock", uuid))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go; may be called twice."""
        while self._descriptors:
            os.close(self._descriptors.pop())


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return
    folder.chmod(EVERYBODY_FOLDER)


def _locked(path: Path, uuid: str) -> int:
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
        os.close(descriptor)
        raise GpuHeldError(f"{uuid} is sampled by process {holder} already; stop that one first") from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def _opened(path: Path) -> int:
    try:  # without O_CREAT first: the kernel forbids it on other people's files in a shared folder
        return os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, EVERYBODY)
        os.fchmod(descriptor, EVERYBODY)
        return descriptor
