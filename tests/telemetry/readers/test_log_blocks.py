"""LevelDB logs: fragments, padding and damage."""

from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.readers.log_blocks import BLOCK_BYTES, log_records
from telemetry.readers.wandb_files import HEAD, run_file


@given(sizes=st.lists(st.integers(0, 2 * BLOCK_BYTES), max_size=6))
def test_records_of_any_size_come_back(sizes: list[int]):
    """Fragments and padding leave no trace."""
    records = [bytes([65 + place]) * size for place, size in enumerate(sizes)]
    lost: list[str] = []

    found = list(log_records(run_file(records), len(HEAD), lost.append))

    assert found == records
    assert lost == []


@given(data=st.binary(max_size=200))
def test_bytes_that_are_no_log_give_no_record(data: bytes):
    """Whatever they are, reading ends."""
    lost: list[str] = []

    assert list(log_records(data, 0, lost.append)) == []


def test_fragments_without_their_other_half_are_lost():
    """A first without a last, and a last without a first."""
    log = run_file([b"x" * (BLOCK_BYTES + 10), b"whole"])
    lost: list[str] = []

    found = list(
        log_records(HEAD + bytes(BLOCK_BYTES - len(HEAD)) + log[BLOCK_BYTES:], len(HEAD), lost.append)
    )

    assert found == [b"whole"]
    assert lost == ["fragment without a beginning"]
