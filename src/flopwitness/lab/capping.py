"""Set a power limit or lock the SM clock of boards for a while, and put back what was there before.

Never run this on boards that others share: it slows whoever else works there, and a limit outlives a killed
process until somebody restores it. It needs root. Nothing here was run on the boards that the datasets are
of; it is tested against a made-up NVML.

The order is: read and refuse, ask, write down what was there, set, work, restore. The note on disk is removed
once all is back, so that ``flopwitness redteam restore`` can undo what a killed process left.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NamedTuple, Protocol

from flopwitness.core.errors import FlopWitnessError
from flopwitness.lab.capping_notes import Before, remove_note, taken, write_note

TOLERANCE_WATTS = 1.0
"""A limit that reads back further off than this was not taken; drivers round to whole watts."""

STATE = Path("/run/flopwitness/boards.json")
"""Where the note lies: gone after a reboot, as limits and locks are."""


class CappingError(FlopWitnessError):
    """A setting that was refused, by us, by a person or by the driver."""


class PowerLimit(NamedTuple):
    """The limit of a board and the range that it allows, in watts."""

    watts: float
    low_watts: float
    high_watts: float


class ClockRange(NamedTuple):
    """The SM clocks that a board knows, in hertz."""

    low_hertz: float
    high_hertz: float


class Boards(Protocol):
    """What can be read and set; every refusal is a ``CappingError`` of one line."""

    def uuids(self) -> tuple[str, ...]:
        """Return the boards."""
        ...

    def power_limit(self, uuid: str) -> PowerLimit:
        """Return the present limit and the allowed range."""
        ...

    def set_power_limit(self, uuid: str, watts: float) -> None:
        """Set the limit."""
        ...

    def clock_range(self, uuid: str) -> ClockRange:
        """Return the lowest and the highest SM clock."""
        ...

    def lock_clock(self, uuid: str, hertz: float) -> None:
        """Hold the SM clock at a value."""
        ...

    def unlock_clock(self, uuid: str) -> None:
        """Let the clock run again; NVML does not tell an earlier lock, so none can be put back."""
        ...


@dataclass(frozen=True, slots=True)
class Setting:
    """What to set on every board; exactly one of the two.

    Attributes
    ----------
    power_limit_watts : float or None
        Board power limit, > 0.
    sm_clock_hertz : float or None
        SM clock to hold, > 0.

    Raises
    ------
    CappingError
        When both or neither is given, or the value is not positive.
    """

    power_limit_watts: float | None = None
    sm_clock_hertz: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be set."""
        given = [value for value in (self.power_limit_watts, self.sm_clock_hertz) if value is not None]
        if len(given) != 1 or not 0 < given[0] < float("inf"):
            raise CappingError(f"one positive power limit or SM clock must be set, got {self}")

    @property
    def words(self) -> str:
        """What is to be set, for people."""
        if self.power_limit_watts is not None:
            return f"power limit {self.power_limit_watts:g} W"
        return f"SM clock {(self.sm_clock_hertz or 0) / 1e6:g} MHz"


Confirm = Callable[[str], bool]
"""Is told in one sentence what would be done, and says whether to do it."""

Note = Callable[[Mapping[str, object]], None]
"""Takes one event: what was set or restored on which board, when."""


@contextmanager
def capped(
    boards: Boards, setting: Setting, *, confirm: Confirm, note: Note, state: Path = STATE
) -> Iterator[None]:
    """Hold a setting on every board; restore on the way out, whatever the way.

    SIGTERM and SIGHUP leave as Ctrl-C does. After SIGKILL the note at ``state`` is still there.

    Parameters
    ----------
    boards : Boards
        The hardware.
    setting : Setting
        What to set.
    confirm : callable
        Asked once, before anything is touched.
    note : callable
        Takes an event for each board set and restored.
    state : Path
        Where the note lies meanwhile.

    Raises
    ------
    CappingError
        When the setting is out of range, was not confirmed or is refused by the driver, or when an earlier
        setting was not restored. Nothing is left set.
    """
    refuse_second(state)
    before = [_before(boards, uuid, setting) for uuid in boards.uuids()]
    if not confirm(_question(setting, before)):
        raise CappingError(f"{setting.words}: not confirmed, nothing was set")
    with _interrupted_by(signal.SIGTERM, signal.SIGHUP):
        try:
            _set_all(boards, setting, before, note=note, state=state)
            yield
        finally:
            with _undisturbed():
                restored(boards, note=note, state=state)


def restored(boards: Boards, *, note: Note, state: Path = STATE) -> int:
    """Put back what a note says, and remove it; return how many boards were put back.

    Raises
    ------
    CappingError
        When a board refuses: the others are restored, and the note keeps the one that is not.
    """
    left: list[Before] = []
    refusals: list[str] = []
    noted = taken(state)
    for one in noted:
        try:
            _restore(boards, one)
            note(_event("restored", one.uuid, power_limit_watts=one.power_limit_watts))
        except CappingError as error:
            left.append(one)
            refusals.append(str(error))
    if left:
        write_note(state, left)
        raise CappingError(f"not restored, try 'flopwitness redteam restore' again: {'; '.join(refusals)}")
    remove_note(state)
    return len(noted)


def refuse_second(state: Path) -> None:
    """Raise ``CappingError`` where an earlier setting was not restored, or still holds."""
    if state.exists():
        raise CappingError(
            f"{state}: boards are set already; if no run holds them, 'flopwitness redteam restore' undoes it"
        )


def _before(boards: Boards, uuid: str, setting: Setting) -> Before:
    """Return what is to be restored on a board; refuse a setting outside its range."""
    if setting.power_limit_watts is not None:
        limit = boards.power_limit(uuid)
        if not limit.low_watts <= setting.power_limit_watts <= limit.high_watts:
            raise CappingError(
                f"{uuid}: {setting.words} is outside {limit.low_watts:g} to {limit.high_watts:g} W"
            )
        return Before(uuid, limit.watts)
    clocks, hertz = boards.clock_range(uuid), setting.sm_clock_hertz or 0.0
    if not clocks.low_hertz <= hertz <= clocks.high_hertz:
        raise CappingError(
            f"{uuid}: {setting.words} is outside {clocks.low_hertz / 1e6:g} to "
            f"{clocks.high_hertz / 1e6:g} MHz"
        )
    return Before(uuid, None)


def _question(setting: Setting, before: Sequence[Before]) -> str:
    now = ", ".join(
        one.uuid if one.power_limit_watts is None else f"{one.uuid} (now {one.power_limit_watts:g} W)"
        for one in before
    )
    return f"{setting.words} on {now}; whoever else works there is slowed until it is restored"


def _set_all(boards: Boards, setting: Setting, before: Sequence[Before], *, note: Note, state: Path) -> None:
    """Set board after board, each noted on disk first; one that refuses is as it was, hence not noted."""
    for number, one in enumerate(before, start=1):
        write_note(state, before[:number])
        try:
            _set(boards, one, setting)
        except CappingError:
            write_note(state, before[: number - 1])
            raise
        note(
            _event(
                "set",
                one.uuid,
                power_limit_watts=setting.power_limit_watts,
                sm_clock_hertz=setting.sm_clock_hertz,
            )
        )


def _set(boards: Boards, before: Before, setting: Setting) -> None:
    """Set one board; one that takes another value than was asked for is put back at once."""
    if setting.power_limit_watts is None:
        boards.lock_clock(before.uuid, setting.sm_clock_hertz or 0.0)
        return
    boards.set_power_limit(before.uuid, setting.power_limit_watts)
    read_watts = boards.power_limit(before.uuid).watts
    if abs(read_watts - setting.power_limit_watts) > TOLERANCE_WATTS:
        _restore(boards, before)
        raise CappingError(f"{before.uuid}: {setting.words} was not taken, the board says {read_watts:g} W")


def _restore(boards: Boards, one: Before) -> None:
    if one.power_limit_watts is None:
        boards.unlock_clock(one.uuid)
    else:
        boards.set_power_limit(one.uuid, one.power_limit_watts)


def _event(what: str, uuid: str, **values: float | None) -> Mapping[str, object]:
    known = {name: value for name, value in values.items() if value is not None}
    return {"event": what, "uuid": uuid, "utc_ns": time.time_ns(), "pid": os.getpid(), **known}


@contextmanager
def _interrupted_by(*signals: signal.Signals) -> Iterator[None]:
    """Turn signals that would end the process at once into an exception that unwinds it."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {one: signal.signal(one, interrupt) for one in signals}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no second signal break off what puts things back."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {one: signal.signal(one, signal.SIG_IGN) for one in signals}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
