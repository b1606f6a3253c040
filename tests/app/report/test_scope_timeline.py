"""One lane a device; what nobody watched is hatched, never idle."""

from dataclasses import replace

import pytest

from app.report.scope_made import DEVICES, HOUR_NS, START_NS, scope_content_of
from flopwitness.app.report.scope_timeline import scope_timeline_plate, unwatched, watched


def test_every_moment_of_a_device_is_watched_or_not():
    """Two stretches were missing on the second device."""
    content = scope_content_of()

    hours = [[(at - START_NS) / HOUR_NS for at in span] for span in unwatched(content, "GPU-b")]

    assert hours == [[2, 4], [8, 10]]


def test_watches_are_cut_to_the_scope_and_joined():
    """Several of one device may overlap and reach beyond."""
    content = scope_content_of()
    (first, *_) = content.watches
    wide = replace(first, stretches=((0, START_NS + HOUR_NS), (START_NS, START_NS + 2 * HOUR_NS)))

    assert watched(replace(content, watches=(wide,)), "GPU-a") == ((START_NS, START_NS + 2 * HOUR_NS),)


def test_a_device_that_nobody_mentions_was_never_watched():
    """It was not observed; it is not idle."""
    content = replace(scope_content_of(), watches=())

    assert watched(content, "GPU-a") == ()
    assert unwatched(content, "GPU-a") == ((START_NS, START_NS + 10 * HOUR_NS),)


def test_lanes_carry_sessions_by_class_with_letters():
    """A session on two devices is in both lanes."""
    (axes,) = scope_timeline_plate(scope_content_of(), ident="lanes").figure.axes

    letters = sorted(text.get_text() for text in axes.texts)

    assert len(axes.get_yticklabels()) == len(DEVICES)
    assert letters == sorted("T" * 2 + "I" + "O" * 2 + "?" * 2 + "–" * 3)


def test_unwatched_stretches_are_hatched():
    """One collection a lane, without a fill."""
    (axes,) = scope_timeline_plate(scope_content_of(), ident="lanes").figure.axes

    hatched = [one for one in axes.collections if one.get_hatch() == "////"]

    assert [len(one.get_paths()) for one in hatched] == [1, 2]
    assert all(one.get_facecolor().size == 0 or one.get_facecolor()[0][3] == 0 for one in hatched)


def test_a_session_too_short_for_its_letter_carries_none():
    """Its pattern and the table tell."""
    content = scope_content_of()
    (first, *_) = content.account.sessions
    short = replace(first, stop_ns=first.start_ns + HOUR_NS // 100)
    account = replace(content.account, sessions=(short,))

    (axes,) = scope_timeline_plate(replace(content, account=account), ident="lanes").figure.axes

    assert list(axes.texts) == []


@pytest.mark.parametrize("n_devices", [1, 64])
def test_the_figure_fits_a_page(n_devices: int):
    """Lanes get lower when they are many."""
    content = scope_content_of()
    names = tuple(sorted(f"GPU-{number}" for number in range(n_devices)))
    scope = replace(content.account.scope, devices=names)
    many = replace(content, account=replace(content.account, scope=scope, sessions=()))

    _, height = scope_timeline_plate(many, ident="lanes").figure.get_size_inches()

    assert height < 10.7


def test_the_figure_is_told_in_words():
    """What was not watched, and the sessions."""
    label = str(scope_timeline_plate(scope_content_of(), ident="lanes").figure.get_label())

    assert "Device B: 40.0\u00a0% of the time not watched." in label
    assert "Session s1: T training (98\u00a0%), 1.50\u00a0h on 2 devices." in label
