"""Laws of the parsers under the formats, for any text: cells, units, stamps, JSON, counts."""

import math

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from contracts.format import reader_of
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.cells import MISSING_TOKENS, read_instants, read_numbers
from flopwitness.telemetry.readers.clocks import LATEST_NS, NO_INSTANT, iso_instants, seconds_to_ns
from flopwitness.telemetry.readers.fields import Field, in_base_units, possible
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.json_text import json_of, number_of
from flopwitness.telemetry.readers.known import FORMATS, recognised
from flopwitness.telemetry.readers.measured import read_measured
from flopwitness.telemetry.readers.reading import Context, Head

NEAR_NUMBERS = st.text(alphabet="0123456789.eE+-xXinfaNW% _,", max_size=30)
CELLS = st.one_of(st.text(max_size=30), NEAR_NUMBERS, st.floats().map(repr), st.sampled_from(MISSING_TOKENS))
ENCODABLE = CELLS.filter(lambda text: not any(0xD800 <= ord(letter) < 0xE000 for letter in text))
CHANNELS = st.sampled_from(
    ("power_watts", "tensor_active_ratio", "energy_joules_total", "temperature_celsius")
)


@given(st.lists(ENCODABLE, min_size=1, max_size=8))
def test_a_column_reads_as_its_cells_read_alone(cells: list[str]):
    """No cell changes what another says."""
    together = read_numbers(pa.array(cells, pa.string()))
    alone = [read_numbers(pa.array([cell], pa.string())) for cell in cells]

    assert repr(together.values.tolist()) == repr([float(each.values[0]) for each in alone])
    assert together.is_bad.tolist() == [bool(each.is_bad[0]) for each in alone]


@given(st.lists(ENCODABLE, min_size=1, max_size=8), st.sampled_from(("", "W", "%", "MHz")))
def test_measured_cells_are_finite_or_missing_and_tokens_are_never_zero(cells: list[str], unit: str):
    """A number, or NaN with its reason: bad, infinite or missing."""
    found = read_measured(pa.array(cells, pa.string()), unit)

    assert not np.isinf(found.values).any()
    for cell, value in zip(cells, found.values.tolist(), strict=True):
        assert not (value == 0 and cell.strip().lower() in MISSING_TOKENS)
        assert not (value == 0 and not any(letter.isdigit() for letter in cell))


@given(st.lists(ENCODABLE, min_size=1, max_size=6))
def test_instants_lie_on_a_clock_or_are_none(cells: list[str]):
    """Whatever stands in a stamp's place, nothing is guessed and nothing overflows."""
    text = pa.array(cells, pa.string())

    time_ns, is_instant = read_instants(text, read_numbers(text))
    written, _ = iso_instants(text, None)
    seconds = seconds_to_ns(read_numbers(text).values)

    assert (time_ns[is_instant] >= 0).all()
    for stamps in (written, seconds):
        assert ((stamps == NO_INSTANT) | ((stamps >= 0) & (stamps < LATEST_NS))).all()


@given(CHANNELS, st.lists(st.floats(), max_size=8), st.floats(1e-9, 1e9), st.floats(1e-9, 1e9))
def test_base_units_hold_only_what_is_possible(
    channel: str, cells: list[float], multiplier: float, divisor: float
):
    """What cannot be a measurement is taken out, never clamped."""
    values, _ = in_base_units(Field(channel, multiplier, divisor), np.array(cells, dtype=np.float64))

    least, most = possible(channel)
    assert ((values >= least) & (values <= most) | np.isnan(values)).all()


@given(
    st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=9)
)
def test_a_json_value_is_a_finite_number_or_none(value: object):
    """A truth value is no number, and an integer past float64 is none either."""
    found = number_of(value)

    assert found is None or math.isfinite(found)
    assert not isinstance(value, bool) or found is None


@given(st.text(max_size=200), st.booleans())
def test_json_is_read_or_refused_in_one_line(text: str, forgives_words: bool):
    """Nothing else comes out."""
    context = Context(Input.of_bytes(b""))

    try:
        json_of(context, text, forgives_words=forgives_words)
    except BadInputError as error:
        assert "\n" not in str(error)  # noqa: PT017  every other error fails the test


@given(st.binary(max_size=300))
def test_bytes_of_any_kind_are_claimed_or_refused_in_one_line(data: bytes):
    """No claim raises; what nobody claims is described."""
    head = Head.of(data)
    for form in FORMATS:
        assert form.claims(head) in {True, False}

    try:
        recognised(Input.of_bytes(data))
        _ = reader_of(data).format
    except BadInputError as error:
        assert "\n" not in str(error)  # noqa: PT017
