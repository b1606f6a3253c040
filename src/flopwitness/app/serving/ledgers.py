"""How a ledger stands that is being written, read from the head beside it."""

from collections.abc import Callable
from pathlib import Path

from flopwitness.app.ledgering import head_of
from flopwitness.app.serving.snapshot import LedgerNow
from flopwitness.core.errors import BadInputError
from flopwitness.storage.ledgers import head_path


def ledger_state(path: Path) -> Callable[[], LedgerNow | None]:
    """Return what says how the ledger at a path stands, for ``Facts.ledger``; it reads what changed alone.

    It says None before the first group is signed, and what it last knew where the head cannot be read.
    """
    known: dict[int, LedgerNow] = {}

    def state() -> LedgerNow | None:
        try:
            changed_ns = head_path(path).stat().st_mtime_ns
            if changed_ns not in known and (head := head_of(path)) is not None:
                known.clear()
                known[changed_ns] = LedgerNow(str(path), head.size + 1, head.head)
        except (OSError, BadInputError):
            pass
        return next(iter(known.values()), None)

    return state
