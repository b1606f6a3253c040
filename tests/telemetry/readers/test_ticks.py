"""Rounds of a logger that prints one row a device."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.readers.clocks import NO_INSTANT
from flopwitness.telemetry.readers.ticks import Places, Rounds, rows_in_tick

MILLISECOND = 1_000_000
ORDERS = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=8).map(
        lambda rounds: [index for each in rounds for index in each]
    )
)


@given(ORDERS, st.integers(0, 50))
def test_rounds_do_not_depend_on_where_a_log_is_cut(index: list[int], place: int):
    """Two blocks give the rounds of one, whatever the order of devices in a round."""
    rows = np.array(index)
    cut = min(place, len(rows))
    rounds = Rounds()

    parts = [rounds.of(rows[:cut]), rounds.of(rows[cut:])]

    assert np.concatenate(parts).tolist() == Rounds().of(rows).tolist()


@given(ORDERS)
def test_no_device_is_twice_in_a_round(index: list[int]):
    """A round ends where one comes again, and rounds only rise."""
    rounds = Rounds().of(np.array(index))

    assert len({*zip(index, rounds.tolist(), strict=True)}) == len(index)
    assert (np.diff(rounds) >= 0).all()


@given(st.integers(1, 16), st.integers(2, 20), st.integers(0, 40))
def test_places_do_not_depend_on_where_a_log_is_cut(n_gpus: int, n_ticks: int, place: int):
    """Rows 3 ms apart, ticks 1 s apart."""
    stamps = (np.arange(n_ticks)[:, None] * 1000 + np.arange(n_gpus)[None] * 3).ravel() * MILLISECOND
    cut = min(place, len(stamps))
    places = Places(n_gpus)

    parts = [places.of(stamps[:cut]), places.of(stamps[cut:])]

    assert rows_in_tick(stamps) == n_gpus
    assert np.concatenate(parts).tolist() == list(range(n_gpus)) * n_ticks


def test_behind_a_row_without_a_stamp_nobody_is_taken_for_another():
    """It may have ended a tick or begun one: whose the rows behind it are is known from the next tick on."""
    stamps = np.array([0, 3, 1000, -1, 2000, 2003, -1, 3003, 4000, 4003]) * MILLISECOND
    stamps[[3, 6]] = NO_INSTANT

    for cut in range(len(stamps)):
        places = Places(2)
        parts = [places.of(stamps[:cut]), places.of(stamps[cut:])]
        assert np.concatenate(parts).tolist() == [0, 1, 0, -1, -1, -1, -1, -1, 0, 1]


def test_rows_all_alike_apart_are_of_one_device():
    """Without a contrast between ticks there are none."""
    assert rows_in_tick(np.arange(40) * 45 * MILLISECOND) == 1
    assert rows_in_tick(np.array([], dtype=np.int64)) == 1
