"""Lines of the Prometheus text exposition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.readers.exposition import label_list, labels_of, sample_lines
from flopwitness.telemetry.readers.inputs import Block


@given(
    labels=st.dictionaries(
        st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name != "__name__"),
        st.text(st.characters(codec="utf-8"), max_size=12),
        max_size=4,
    ),
    blank=st.sampled_from(["", " "]),
)
def test_labels_of_any_text_come_back(labels: dict[str, str], blank: str):
    """Quotes, braces, commas, line feeds: all that is escaped."""
    escaped = {n: v.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for n, v in labels.items()}
    text = "name{" + f",{blank}".join(f'{n}="{v}"' for n, v in escaped.items())

    assert labels_of(text) == {"__name__": "name", **labels}


@pytest.mark.parametrize(
    "text", ["", "name", '{a="1"', 'name{a="1', "name{a=1", 'name{a="1"b="2"', 'n{a="",a=""']
)
def test_a_text_that_is_no_series_is_none(text: str):
    """Nothing is guessed."""
    assert labels_of(text) is None


def test_a_list_of_labels_alone():
    """As a dump keeps them."""
    assert label_list('UUID="GPU-a",gpu="0"') == {"UUID": "GPU-a", "gpu": "0"}
    assert label_list("nonsense") == {}


def test_lines_are_told_apart():
    """Comments and samples without labels are passed over, the rest is counted by line."""
    data = b'# HELP x {}\nup 1\n\n a{b="}"}\t2 3\nc{d="e"}4\n???\nf{} \ng{h="i"} 1 2 3\n'

    found = sample_lines(Block(data, 10))

    assert found.heads.to_pylist() == [' a{b="}"', 'c{d="e"']
    assert found.values.values.tolist() == [2.0, 4.0]
    assert found.stamps.to_pylist() == ["3", None]
    assert found.lines.tolist() == [13, 14]
    assert found.bad_lines.tolist() == [15, 16, 17]


@pytest.mark.parametrize(("text", "is_bad"), [("NaN", False), ("9223372036854775794", False), ("N/A", True)])
def test_the_only_word_for_no_answer_is_nan(text: str, is_bad: bool):
    """DCGM's blanks are numbers that mean none; every other word is no value."""
    found = sample_lines(Block(f'a{{b="c"}} {text}\n'.encode(), 1))

    assert str(found.values.values.tolist()) == "[nan]"
    assert found.values.is_bad.tolist() == [is_bad]


def test_no_lines_are_no_samples():
    """A block may hold a part of nothing."""
    assert len(sample_lines(Block(b"", 1)).lines) == 0
