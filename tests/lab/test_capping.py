"""Settings of boards: asked before, written down before, restored whatever happens."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.boards import BoardsContract
from flopwitness.lab.capping import CappingError, Setting, capped, restored
from flopwitness.lab.capping_notes import taken
from lab.boards import DEFAULT_WATTS, FakeBoards

LIMIT = Setting(power_limit_watts=300.0)
CLOCK = Setting(sm_clock_hertz=1.2e9)


class TestFakeBoards(BoardsContract):
    """The fake that the tests below use keeps what the real one keeps."""

    def make_boards(self) -> FakeBoards:
        """Return boards of root."""
        return FakeBoards()

    def make_boards_of_others(self) -> FakeBoards:
        """Return boards of somebody else."""
        return FakeBoards(may_set=False)


class Events(list[dict[str, object]]):
    """Keeps what it is told."""

    def note(self, event: object) -> None:
        """Keep it."""
        self.append(dict(event))  # type: ignore[call-overload]


def yes(_: str) -> bool:
    """Agree."""
    return True


def watts(boards: FakeBoards) -> list[float]:
    """Return the limit of every board."""
    return [boards.power_limit(uuid).watts for uuid in boards.uuids()]


def test_every_board_is_set_inside_and_as_before_outside(tmp_path: Path) -> None:
    """Each event names the board and the value; the note on disk is gone at the end."""
    boards, events, state = FakeBoards(limits={"GPU-b": 500.0}), Events(), tmp_path / "boards.json"

    with capped(boards, LIMIT, confirm=yes, note=events.note, state=state):
        inside, noted = watts(boards), taken(state)

    assert inside == [300.0, 300.0]
    assert [one.power_limit_watts for one in noted] == [DEFAULT_WATTS, 500.0]
    assert watts(boards) == [DEFAULT_WATTS, 500.0]
    assert not state.exists()
    assert [(one["event"], one["uuid"], one["power_limit_watts"]) for one in events] == [
        ("set", "GPU-a", 300.0),
        ("set", "GPU-b", 300.0),
        ("restored", "GPU-a", DEFAULT_WATTS),
        ("restored", "GPU-b", 500.0),
    ]


def test_a_locked_clock_is_let_go(tmp_path: Path) -> None:
    """The same for clocks; NVML does not tell an earlier lock."""
    boards = FakeBoards()

    with capped(boards, CLOCK, confirm=yes, note=Events().note, state=tmp_path / "boards.json"):
        inside = dict(boards.locks)

    assert inside == {"GPU-a": 1.2e9, "GPU-b": 1.2e9}
    assert boards.locks == {}


def test_nothing_is_touched_where_a_person_says_no(tmp_path: Path) -> None:
    """The question names the setting, the boards and what they are set to now."""
    boards, asked = FakeBoards(), []

    def no(sentence: str) -> bool:
        asked.append(sentence)
        return False

    with (
        pytest.raises(CappingError, match="not confirmed, nothing was set"),
        capped(boards, LIMIT, confirm=no, note=Events().note, state=tmp_path / "boards.json"),
    ):
        pytest.fail("went on without consent")

    (sentence,) = asked
    assert "power limit 300 W on GPU-a (now 650 W), GPU-b (now 650 W)" in sentence
    assert boards.calls == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Setting(power_limit_watts=100.0), "outside 200 to 700 W"),
        (Setting(power_limit_watts=701.0), "outside 200 to 700 W"),
        (Setting(sm_clock_hertz=2e9), "outside 345 to 1980 MHz"),
    ],
)
def test_what_a_board_does_not_allow_is_refused_before_anybody_is_asked(
    tmp_path: Path, setting: Setting, words: str
) -> None:
    """The line names the range."""
    boards = FakeBoards()

    with (
        pytest.raises(CappingError, match=words),
        capped(boards, setting, confirm=pytest.fail, note=Events().note, state=tmp_path / "boards.json"),
    ):
        pytest.fail("was set")

    assert boards.calls == []


@pytest.mark.parametrize(
    "values", [{}, {"power_limit_watts": 0.0}, {"power_limit_watts": 1, "sm_clock_hertz": 1}]
)
def test_a_setting_is_one_positive_value(values: dict[str, float]) -> None:
    """Neither none nor two."""
    with pytest.raises(CappingError, match="must be set"):
        Setting(**values)


def _error() -> None:
    raise ValueError("the work failed")


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _hang_up() -> None:
    os.kill(os.getpid(), signal.SIGHUP)


@pytest.mark.parametrize(
    ("end", "leaves_by"),
    [(_error, ValueError), (_terminate, KeyboardInterrupt), (_hang_up, KeyboardInterrupt)],
)
def test_boards_are_restored_however_the_work_ends(
    tmp_path: Path, end: Callable[[], None], leaves_by: type[BaseException]
) -> None:
    """An error passes through; a signal unwinds like Ctrl-C, and its old handler is back afterwards."""
    boards, before = FakeBoards(), signal.getsignal(signal.SIGTERM)

    with (
        pytest.raises(leaves_by),
        capped(boards, LIMIT, confirm=yes, note=Events().note, state=tmp_path / "boards.json"),
    ):
        end()

    assert watts(boards) == [DEFAULT_WATTS, DEFAULT_WATTS]
    assert signal.getsignal(signal.SIGTERM) is before
    assert list(tmp_path.iterdir()) == []


def test_a_second_board_that_refuses_takes_the_first_one_back(tmp_path: Path) -> None:
    """The error names the board; nothing is left set, and nothing is left to restore."""
    boards = FakeBoards(refusing={"GPU-b"})

    with (
        pytest.raises(CappingError, match="GPU-b: GPU is lost"),
        capped(boards, LIMIT, confirm=yes, note=Events().note, state=tmp_path / "boards.json"),
    ):
        pytest.fail("was set")

    assert watts(boards) == [DEFAULT_WATTS, DEFAULT_WATTS]
    assert list(tmp_path.iterdir()) == []


def test_without_root_there_is_one_line_and_no_note(tmp_path: Path) -> None:
    """Nothing was set, so nothing must be restored."""
    with (
        pytest.raises(CappingError, match="GPU-a: power limits and clocks are set by root alone"),
        capped(
            FakeBoards(may_set=False), LIMIT, confirm=yes, note=Events().note, state=tmp_path / "boards.json"
        ),
    ):
        pytest.fail("was set")

    assert list(tmp_path.iterdir()) == []


def test_a_limit_that_reads_back_otherwise_is_undone(tmp_path: Path) -> None:
    """A board that rounds 300 W to 400 W did not do what was asked for."""
    boards = FakeBoards(granularity_watts=200.0, limits={"GPU-a": 600.0, "GPU-b": 600.0})

    with (
        pytest.raises(CappingError, match="was not taken, the board says 400 W"),
        capped(boards, LIMIT, confirm=yes, note=Events().note, state=tmp_path / "boards.json"),
    ):
        pytest.fail("was taken")

    assert watts(boards) == [600.0, 600.0]


def test_a_board_that_cannot_be_restored_stays_noted_and_the_others_are_back(tmp_path: Path) -> None:
    """A later restore finishes the work."""
    boards, state = FakeBoards(), tmp_path / "boards.json"

    with (
        pytest.raises(CappingError, match=r"not restored.*GPU-a: GPU is lost"),
        capped(boards, LIMIT, confirm=yes, note=Events().note, state=state),
    ):
        boards.refusing.add("GPU-a")
    between = watts(boards)
    boards.refusing.clear()

    assert between == [300.0, DEFAULT_WATTS]
    assert restored(boards, note=Events().note, state=state) == 1
    assert watts(boards) == [DEFAULT_WATTS, DEFAULT_WATTS]
    assert not state.exists()


def test_what_is_set_already_is_not_set_again(tmp_path: Path) -> None:
    """A second setting would note the first one's limits as what was there before."""
    boards, state = FakeBoards(), tmp_path / "boards.json"

    with capped(boards, LIMIT, confirm=yes, note=Events().note, state=state):
        with (
            pytest.raises(CappingError, match="set already"),
            capped(boards, CLOCK, confirm=yes, note=Events().note, state=state),
        ):
            pytest.fail("was set twice")
        still = watts(boards)

    assert still == [300.0, 300.0]
    assert boards.locks == {}
    assert watts(boards) == [DEFAULT_WATTS, DEFAULT_WATTS]
