"""Tables of W&B."""

from flopwitness.telemetry.readers.reading import Head
from flopwitness.telemetry.readers.wandb_columns import header_cells


def test_cells_of_a_header_may_hold_commas_in_quotes():
    """Runs have names of any kind."""
    assert header_cells(Head.of(b'"a, b", c\n1,2\n')) == ("a, b", "c")
    assert header_cells(Head.of(b"")) == ()
