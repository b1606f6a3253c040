"""Small CSV logs, declared as data: what each column is, how time is written, whose a row is."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from flopwitness.telemetry.readers.fields import Field
from flopwitness.telemetry.readers.reading import Head


class Clock(StrEnum):
    """How a log writes time."""

    ISO = "date and time, with a zone or without"
    EPOCH = "seconds since 1970, UTC"
    RELATIVE = "seconds since the log began"
    SHIFTED = "seconds since 1970, shifted by an unknown time"
    NAMED_ZONE = "date, time and the letters of a zone"
    BY_CELLS = "one of these, as the cells of the whole file tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One kind of log.

    Attributes
    ----------
    name, title : str
        Of the format.
    time : str
        Column with the time.
    clock : Clock
        How it is written.
    fields : mapping of str to Field
        Columns that are channels, lower case; of a wide log, none.
    gpu : str
        Column that tells GPUs apart; empty where none does.
    product, host : str
        Columns with the product and the machine, where there are.
    uuid : str
        Column with the UUID, where there is one.
    aside : collection of str
        Columns that are known and no channel.
    signature : frozenset of str
        Columns by which the log is told; all that are declared where empty.
    wide : callable or None
        Of a log with one column a device: gives a column's device and field, None where it is none.
    is_node_a_column : bool
        Of a wide log, whether a column is a machine.
    missing : collection of str
        Cells that mean "no answer" beside the general ones.
    may_break_lines : bool
        Whether a quoted cell may hold a line break.
    remark : str
        What a user should know of such logs; empty where nothing.
    """

    name: str
    title: str
    time: str
    clock: Clock
    fields: Mapping[str, Field] = field(default_factory=dict)
    gpu: str = ""
    product: str = ""
    host: str = ""
    uuid: str = ""
    aside: Collection[str] = ()
    signature: frozenset[str] = frozenset()
    wide: Callable[[str], tuple[str, Field] | None] | None = None
    is_node_a_column: bool = False
    missing: Collection[str] = ()
    may_break_lines: bool = False
    remark: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns that say whose a row is, the best first."""
        return tuple(name for name in (self.uuid, self.gpu) if name)

    @property
    def known(self) -> tuple[str, ...]:
        """Every column that is declared."""
        others = (*self.labels, self.product, self.host, *self.aside)
        return (self.time, *self.fields, *(name for name in others if name))

    def column(self, name: str) -> tuple[str, Field] | None:
        """Return whose a column of a wide log is, and what it holds; None where it is no device's."""
        return None if self.wide is None or name == self.time else self.wide(name)

    def claims(self, head: Head) -> bool:
        """Say whether a head has the columns of such a log."""
        names = head.header()
        if self.time not in names:
            return False
        if self.wide is None:
            return (self.signature or frozenset(self.known)) <= set(names)
        others = [name for name in names if name and name not in {self.time, *self.aside}]
        return bool(others) and all(self.column(name) for name in others)
