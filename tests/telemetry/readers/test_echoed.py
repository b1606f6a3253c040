"""The command that made a log, where the log begins with it."""

import pytest

from flopwitness.telemetry.readers.echoed import echoed_words, option, seconds_of
from flopwitness.telemetry.readers.reading import Head


@pytest.mark.parametrize(
    "line", ["> dcgmi dmon -e 1,2 -d 100", "$ dcgmi  dmon -d100 -e 1,2", "# dcgmi dmon -e1,2"]
)
def test_options_are_found_in_every_spelling(line: str):
    """With a prompt or none, joined to their value or not."""
    words = echoed_words(Head.of(line.encode()), "dcgmi dmon")

    assert option(words, "-e", "--field-id") == "1,2"


def test_a_log_without_its_command_has_no_words():
    """Nor does a quotation mark without its second stop anything."""
    assert echoed_words(Head.of(b"# gpu pwr\n0 1\n"), "nvidia-smi dmon") == ()
    assert echoed_words(Head.of(b'nvidia-smi dmon -f "x'), "nvidia-smi dmon") == ("-f", '"x')


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5", 5.0), ("0.5", 0.5), ("0", None), ("-1", None), ("1e9", None), ("9" * 20, None), (None, None)],
)
def test_a_period_is_a_positive_number_of_a_sane_size(text: str | None, seconds: float | None):
    """Anything else is as if the option were not there."""
    assert seconds_of(text) == seconds
