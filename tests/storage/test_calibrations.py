"""Calibrations as JSON."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwitness.core.errors import BadInputError
from flopwitness.storage.calibrations import read_calibration_payload, write_calibration

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(payload=st.dictionaries(st.text(max_size=6), PLAIN, max_size=4))
def test_round_trip_is_equal(payload: dict[str, object], tmp_path_factory: pytest.TempPathFactory):
    """Any plain payload comes back, floats to the last bit."""
    path = tmp_path_factory.mktemp("c") / "calibration.json"
    write_calibration(path, payload)

    assert payload == read_calibration_payload(path)


def test_the_same_payload_gives_the_same_bytes(tmp_path: Path):
    """Keys are sorted, so that a digest of the file speaks of its content."""
    write_calibration(tmp_path / "one", {"a": 1, "b": [2.5]})
    write_calibration(tmp_path / "two", {"b": [2.5], "a": 1})

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [1.0, float("nan")], {1: 2}, [{None: 1}], object(), "\ud800"]
)
def test_what_json_cannot_hold_is_refused_before_writing(tmp_path: Path, value: object):
    """NaN in a fitted state, keys that would change, strange objects: nothing is written."""
    with pytest.raises(BadInputError, match="expected finite numbers"):
        write_calibration(tmp_path / "x", {"value": value})

    assert list(tmp_path.iterdir()) == []


def test_an_existing_calibration_is_replaced_only_on_request(tmp_path: Path):
    """Nothing overwrites by accident."""
    write_calibration(tmp_path / "x", {"a": 1})
    with pytest.raises(BadInputError, match="free name"):
        write_calibration(tmp_path / "x", {"a": 2})

    write_calibration(tmp_path / "x", {"a": 3}, replace=True)

    assert read_calibration_payload(tmp_path / "x") == {"a": 3}


GOOD = {"format": "flopwitness-calibration", "version": 1, "payload": {}}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected JSON"),
        ("{", "expected JSON"),
        ("[]", "field 'format'"),
        ("5", "field 'format'"),
        ("{}", "field 'format'"),
        ("[" * 100_000, "expected JSON"),
        (json.dumps(GOOD | {"format": "other"}), "got 'other'"),
        (json.dumps(GOOD | {"version": 2}), "field 'version': expected 1, got 2"),
        (json.dumps(GOOD | {"payload": []}), "field 'payload': expected an object, got a list"),
        (json.dumps(GOOD | {"payload": {"x": float("nan")}}), "NaN"),
        (json.dumps(GOOD)[:-1] + ', "version": 1}', "twice"),
    ],
)
def test_what_is_no_calibration_is_refused_in_one_line(tmp_path: Path, text: str, complaint: str):
    """Each refusal names the file, what was expected and what came."""
    path = tmp_path / "c.json"
    path.write_text(text)

    with pytest.raises(BadInputError, match=complaint) as caught:
        read_calibration_payload(path)

    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path):
    """A binary file is no JSON."""
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00{")

    with pytest.raises(BadInputError, match="expected JSON"):
        read_calibration_payload(tmp_path / "x")
