"""Damaged files, a few hundred of each format: the short form of ``benchmarks/fuzzing.py``."""

import random

import pytest

from contracts.format import reader_of
from flopwitness.telemetry.readers.known import FORMATS
from fuzz.laws import HangError, content, input_of, limited, tried, values_of
from fuzz.mutations import CHANGES, WRAPS, blanked, mutated
from fuzz.samples import Sample, samples

ALL = samples()
SEED = 20_260_203
N_INPUTS = 100

EVERY = pytest.mark.parametrize("sample", ALL, ids=[f"{each.form.name}-{each.name}" for each in ALL])
HEADED = [each for each in ALL if each.form.parse and not each.is_binary and each.form.name.endswith("-csv")]


@EVERY
def test_no_damaged_file_breaks_a_law(sample: Sample):
    """Refused in one line, or read: finite, possible, in order, the same again, and a blank is never 0."""
    others = tuple(each.data for each in ALL)

    broken = []
    for number in range(N_INPUTS):
        change, rng = input_of(sample, SEED, number, others)
        verdict = tried(sample, change, rng)
        # The suite shares its machine and warms up as it goes: how long it took is the benchmark's to judge.
        if verdict.broken and "processor time" not in verdict.broken:
            broken.append(f"{sample.form.name}:{sample.name}:{number} {verdict.broken}")

    assert broken == []


def test_every_format_has_a_sample():
    """A format without a sample would never be damaged."""
    assert {form.name for form in FORMATS} == {sample.form.name for sample in ALL}


@pytest.mark.parametrize("sample", HEADED, ids=[f"{each.form.name}-{each.name}" for each in HEADED])
def test_the_order_of_columns_changes_nothing(sample: Sample):
    """Fields are found by name, never by position."""
    rows = [line.split(b",") for line in sample.data.split(b"\n") if line]
    if any(len(row) != len(rows[0]) for row in rows) or b'"' in sample.data or _has_numbers(rows[0]):
        pytest.skip("no table of plain cells under a header")

    whole = values_of(reader_of(sample.data, sample.asked).recording)

    for turn in range(1, len(rows[0])):
        turned = b"".join(b",".join([*row[turn:], *row[:turn]]) + b"\n" for row in rows)
        assert values_of(reader_of(turned, sample.asked).recording) == whole


def test_an_input_is_the_same_each_time():
    """A case that a table names can be made again."""
    first, _ = input_of(ALL[0], SEED, 7, ())
    again, _ = input_of(ALL[0], SEED, 7, ())
    other, _ = input_of(ALL[0], SEED, 8, ())

    assert first == again
    assert first != other


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\0", b"a", b"\xff\xfe", b"1,2\n3", b"{", b'{"a": [1]}', b"<a>"]
)
def test_no_mutation_stumbles(data: bytes):
    """Whatever is left of a file can be damaged further."""
    for change in (*CHANGES, *WRAPS):
        for seed in range(20):
            assert isinstance(change(data, random.Random(seed)), bytes)  # noqa: S311  no secret
    assert isinstance(mutated(data, random.Random(0), others=(b"x\ny",)).data, bytes)  # noqa: S311
    assert isinstance(blanked(data, random.Random(0)), bytes)  # noqa: S311


def test_a_hang_is_noticed():
    """The watchdog counts processor time and ends what runs too long."""
    with pytest.raises(HangError):
        _hang()


def test_a_blank_that_becomes_zero_would_be_noticed():
    """The law is not empty: an answer with one more 0 than before breaks it."""
    sample = next(each for each in ALL if each.form.name == "nvidia-smi-csv")
    answer = reader_of(sample.data, sample.asked).recording

    assert content(answer) == content(reader_of(sample.data, sample.asked).recording)
    assert values_of(answer) != values_of(
        reader_of(sample.data.replace(b" 97 %", b" 0 %"), sample.asked).recording
    )


def _has_numbers(row: list[bytes]) -> bool:
    return any(cell.strip().replace(b".", b"").isdigit() for cell in row)


def _hang() -> None:
    with limited(0.01):
        while True:
            pass
