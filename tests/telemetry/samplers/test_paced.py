"""Rounds at their own pace: in time, in one thread, and past a device that hangs."""

import threading
import time
from collections.abc import Callable

import pytest

from flopwitness.telemetry.samplers.paced import PacedReader

TICK_SECONDS = 0.01


def reading(**tasks: Callable[[], object]) -> PacedReader[object]:
    """Start a reader that gives a device up after 50 ms."""
    return PacedReader(tasks, interval_seconds=TICK_SECONDS, patience_seconds=0.05)


def fetched(reader: PacedReader[object], until: Callable[[dict[str, list[object]]], bool]):
    """Fetch until what came in all is as wanted."""
    found: dict[str, list[object]] = {}
    deadline = time.monotonic() + 10.0
    while not until(found):
        assert time.monotonic() < deadline
        time.sleep(TICK_SECONDS)
        for name, answers in reader.fetch().items():
            found.setdefault(name, []).extend(answers)
    return found


def test_every_round_reads_every_device_in_one_thread():
    """In turn: a second thread would cost more than the reading."""
    calls: list[tuple[str, int]] = []

    def read(name: str) -> None:
        calls.append((name, threading.get_ident()))

    reader = reading(a=lambda: read("a"), b=lambda: read("b"))
    fetched(reader, lambda found: len(found.get("b", ())) >= 5)
    closed = reader.close()

    assert closed
    assert [name for name, _ in calls[:6]] == ["a", "b"] * 3
    assert len({ident for _, ident in calls}) == 1


def test_answers_are_given_out_once_and_in_order():
    """Nothing is lost between two fetches, nothing comes twice."""
    numbers = iter(range(10_000))
    reader = reading(a=lambda: next(numbers))

    found = fetched(reader, lambda found: len(found.get("a", ())) >= 20)["a"]
    reader.close()

    assert found == list(range(len(found)))


def test_a_hung_device_keeps_its_thread_and_the_others_go_on():
    """It is named while it hangs; when it comes back it is read like any other again."""
    release = threading.Event()
    reader = reading(a=lambda: release.wait(10), b=lambda: "b")

    without = fetched(reader, lambda found: len(found.get("b", ())) >= 10)
    hung = reader.hung
    release.set()
    fetched(reader, lambda found: len(found.get("a", ())) >= 5)
    after = reader.hung
    closed = reader.close()

    assert not without.get("a")
    assert hung == {"a"}
    assert after == frozenset()
    assert closed


def test_a_hung_device_is_never_asked_by_two_threads():
    """Its call is still out: a second one would meet the first."""
    release, calls = threading.Event(), []

    def hung() -> None:
        calls.append(1)
        release.wait(10)

    reader = reading(a=hung, b=lambda: "b")
    fetched(reader, lambda found: len(found.get("b", ())) >= 20)
    n_calls = len(calls)
    release.set()
    reader.close()

    assert n_calls == 1


def test_rounds_that_passed_are_skipped_and_counted():
    """A round of some ticks makes a gap, not a crowd."""
    delays = iter([0.08])
    tasks = {"a": lambda: time.sleep(next(delays, 0.0))}
    reader = PacedReader(tasks, interval_seconds=TICK_SECONDS, patience_seconds=10.0)
    fetched(reader, lambda found: len(found.get("a", ())) >= 3)
    reader.close()

    assert reader.n_missed >= 6


def test_a_task_that_raises_is_heard_where_answers_are_fetched():
    """A fault of ours is not lost in a thread."""

    def broken() -> None:
        raise ZeroDivisionError

    reader = reading(a=broken)

    with pytest.raises(ZeroDivisionError):
        fetched(reader, lambda _: False)
    assert reader.close()


def test_a_hung_device_does_not_hold_up_closing():
    """It is told that somebody is still out, so that nothing is freed under it."""
    release = threading.Event()
    reader = reading(a=lambda: release.wait(10))

    time.sleep(2 * TICK_SECONDS)
    closed = reader.close(0.01)
    release.set()

    assert not closed
    assert reader.close(5.0)
