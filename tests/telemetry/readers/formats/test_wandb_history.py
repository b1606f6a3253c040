"""What runs logged with W&B."""

from contracts.format import START_NS, FormatContract, reader_of
from flopwitness.telemetry.readers.formats.wandb_history import FORMAT

SAMPLE = b"""\
{"iteration": 0, "_step": 0, "_timestamp": 1770091506.5, "_runtime": 256.5, "train_loss": 1.5, "note": "m@h"}
{"_step": 10, "_timestamp": 1770091507.5, "_runtime": 257.5, "train_loss": NaN, "images": {"path": "x"}}
"""


class TestWandbHistory(FormatContract):
    """Steps with losses."""

    form = FORMAT
    sample = SAMPLE


def test_numbers_are_kept_and_texts_are_not():
    """A text may be anything; NaN is no answer."""
    summary = reader_of(SAMPLE).summary

    assert [dict(row) for row in summary.rows] == [
        {
            "time_ns": START_NS + 500_000_000,
            "runtime_seconds": 256.5,
            "step": 0.0,
            "iteration": 0.0,
            "train_loss": 1.5,
        },
        {"time_ns": START_NS + 1_500_000_000, "runtime_seconds": 257.5, "step": 10.0, "train_loss": None},
    ]
