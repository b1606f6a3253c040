"""What everything must keep that sets power limits and clocks of boards."""

import pytest

from flopwitness.lab.capping import Boards, CappingError


class BoardsContract:
    """Subclass, say how to make boards as root and as somebody else, and inherit the tests."""

    def make_boards(self) -> Boards:
        """Return two boards or more that may be set, at their defaults."""
        raise NotImplementedError

    def make_boards_of_others(self) -> Boards:
        """Return boards that this user may not set."""
        raise NotImplementedError

    def test_the_present_limit_is_inside_the_range(self) -> None:
        """What is there now could be set again."""
        boards = self.make_boards()

        for uuid in boards.uuids():
            limit = boards.power_limit(uuid)
            assert 0 < limit.low_watts <= limit.watts <= limit.high_watts

    def test_a_limit_that_was_set_reads_back_on_that_board_alone(self) -> None:
        """The others keep theirs."""
        boards = self.make_boards()
        first, second, *_ = boards.uuids()
        others = boards.power_limit(second)

        boards.set_power_limit(first, boards.power_limit(first).low_watts)

        assert boards.power_limit(first).watts == pytest.approx(boards.power_limit(first).low_watts)
        assert boards.power_limit(second) == others

    def test_a_clock_in_range_can_be_locked_and_let_go_twice(self) -> None:
        """Letting go of what runs freely is no error."""
        boards = self.make_boards()
        uuid = boards.uuids()[0]
        clocks = boards.clock_range(uuid)

        boards.lock_clock(uuid, clocks.low_hertz)
        boards.unlock_clock(uuid)
        boards.unlock_clock(uuid)

        assert 0 < clocks.low_hertz < clocks.high_hertz

    def test_refusals_are_one_line_that_names_the_board(self) -> None:
        """Without permission nothing changes; an unknown board is no bug."""
        boards = self.make_boards_of_others()
        uuid = boards.uuids()[0]
        before = boards.power_limit(uuid)

        with pytest.raises(CappingError, match=f"^{uuid}: power limits and clocks are set by root alone$"):
            boards.set_power_limit(uuid, before.low_watts)
        with pytest.raises(CappingError, match="root alone"):
            boards.lock_clock(uuid, boards.clock_range(uuid).low_hertz)
        with pytest.raises(CappingError, match="no such board"):
            boards.power_limit("GPU-of-another-node")

        assert boards.power_limit(uuid) == before
