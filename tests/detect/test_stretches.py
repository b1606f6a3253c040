"""Where one stretch ends and the next begins."""

import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.detect.states import State
from flopwitness.detect.stretches import Stretch, StretchCutter

LETTERS = {"i": State.IDLE, "w": State.WORKING, "s": State.STALLED, "u": State.UNSEEN}


def cut(letters: str) -> list[tuple[int, int, str]]:
    """Cut states of one nanosecond each; 3 ns are quiet, 5 ns are a stall."""
    cutter = StretchCutter(quiet_ns=3, stall_ns=5)
    found = [
        stretch for at, letter in enumerate(letters) for stretch in cutter.push(LETTERS[letter], at, at + 1)
    ]
    found += cutter.flush()
    return [(stretch.start_ns, stretch.stop_ns, stretch.name) for stretch in found]


@pytest.mark.parametrize(
    ("letters", "stretches"),
    [
        ("", []),
        ("iiii", []),
        ("iwwi", [(1, 3, "")]),
        ("wiiw", [(0, 4, "")]),
        ("wiiiw", [(0, 1, ""), (4, 5, "")]),
        ("iuii", [(1, 2, "")]),
        ("wuuuuw", [(0, 6, "")]),
        ("ssss", [(0, 4, "")]),
        ("sssss", [(0, 5, "stalled")]),
        ("wssiw", [(0, 5, "")]),
        ("wsssw", [(0, 5, "")]),
        ("wsssss", [(0, 1, ""), (1, 6, "stalled")]),
        ("wsssssw", [(0, 1, ""), (1, 6, "stalled"), (6, 7, "")]),
        ("wiissssw", [(0, 8, "")]),
        ("wiisssss", [(0, 1, ""), (3, 8, "stalled")]),
        ("ssuusss", [(0, 7, "stalled")]),
        ("ssiisss", [(0, 7, "stalled")]),
        ("sssssuuusssss", [(0, 5, "stalled"), (5, 8, ""), (8, 13, "stalled")]),
        ("ssuuusssss", [(0, 5, ""), (5, 10, "stalled")]),
        ("sssssuuw", [(0, 5, "stalled"), (5, 8, "")]),
        ("sssssuu", [(0, 7, "stalled")]),
        ("sssssuuu", [(0, 5, "stalled"), (5, 8, "")]),
        ("sssssuuuu", [(0, 5, "stalled"), (5, 9, "")]),
        ("ssuiii", [(0, 3, "")]),
        ("sssssiii", [(0, 5, "stalled")]),
    ],
)
def test_states_are_cut_where_the_rules_say(letters: str, stretches: list[tuple[int, int, str]]):
    """Each line is a rule: quiet ends, a long stall stands alone, the unseen stays with its neighbours."""
    assert cut(letters) == stretches


def test_an_empty_stretch_is_refused():
    """A stretch has a length."""
    with pytest.raises(InvalidNounError, match="not after its start"):
        Stretch(5, 5)
