"""One thread a device: what is slow, late or broken, and what the others see of it."""

import threading

import pytest

from flopwitness.telemetry.samplers.workers import Workers


def test_every_device_is_asked_at_once():
    """Two tasks that wait for each other both come back: neither stood behind the other."""
    meeting = threading.Barrier(2, timeout=5)
    workers = Workers({"a": meeting.wait, "b": meeting.wait})

    found = workers.ask(5.0)
    closed = workers.close()

    assert sorted(found.values()) == [0, 1]
    assert closed


def test_a_hung_device_is_waited_for_once_and_never_asked_twice():
    """Its answer is given out in the round in which it came; meanwhile the others answer."""
    release, n_calls = threading.Event(), []

    def hung() -> str:
        n_calls.append(1)
        release.wait(5)
        return "late"

    workers = Workers({"a": hung, "b": lambda: "at once"})
    first, second = workers.ask(0.05), workers.ask(5.0)
    release.set()
    found: dict[str, str] = {}
    while "a" not in found:
        found |= workers.ask(5.0)
    workers.close()

    assert first == second == {"b": "at once"}
    assert found["a"] == "late"
    assert len(n_calls) <= 2


def test_a_task_that_raises_is_heard_where_the_answer_is_awaited():
    """A fault of ours is not lost in a thread."""

    def broken() -> None:
        raise ZeroDivisionError

    workers = Workers({"a": broken})

    with pytest.raises(ZeroDivisionError):
        workers.ask(5.0)
    assert workers.close()


def test_a_hung_device_does_not_hold_up_closing():
    """It is told that somebody is still out, so that nothing is freed under it."""
    release = threading.Event()
    workers = Workers({"a": lambda: release.wait(5)})
    workers.ask(0.01)

    closed = workers.close(0.01)
    release.set()

    assert not closed
    assert workers.close(5.0)
