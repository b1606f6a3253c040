"""No two classes of work look alike in black and white."""

from flopwitness.app.report.scope_looks import LOOKS, NOT_ASKED, look_of


def test_classes_differ_in_pattern_and_letter():
    """Training alone is plain; not asked is plain as well, on the colour of the page."""
    looks = [*LOOKS.values(), NOT_ASKED]

    assert len({look.letter for look in looks}) == len(looks)
    assert len({look.hatch for look in LOOKS.values()}) == len(LOOKS)


def test_nobody_asked_is_not_unknown():
    """One is a missing question, the other an answer."""
    assert look_of(None) == NOT_ASKED
    assert NOT_ASKED not in LOOKS.values()
