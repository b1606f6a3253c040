"""Answers of Prometheus and lines of VictoriaMetrics become the same series."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.telemetry.prometheus.series import Series, from_export_lines, from_matrix

LABELS = {"__name__": "DCGM_FI_DEV_POWER_USAGE", "UUID": "GPU-aaaa"}
SAMPLES = st.lists(st.tuples(st.integers(0, 4 * 10**12), st.none() | st.floats(allow_nan=False)))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["status", "data", "result", "resultType", "metric", "values", "value", "timestamps"]
            ),
            inner | st.sampled_from(["success", "matrix", "vector"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


def matrix(*entries: object, **envelope: object) -> str:
    """Return an answer with these series."""
    answer = {"status": "success", "data": {"resultType": "matrix", "result": list(entries)}}
    return json.dumps(answer | envelope)


def test_values_are_texts_and_times_are_seconds():
    """Prometheus writes numbers as texts; NaN and infinities are values."""
    values = [[1770091506.1, "412.1"], [1770091507.1, "NaN"], [1770091508, "+Inf"], [1770091509, "-Inf"]]

    (series,), findings = from_matrix(matrix({"metric": LABELS, "values": values}))

    assert series.labels == LABELS
    assert series.time_ns.tolist() == [
        n * 10**8 for n in (17700915061, 17700915071, 17700915080, 17700915090)
    ]
    np.testing.assert_array_equal(series.values, [412.1, np.nan, np.inf, -np.inf])
    assert findings == []


def test_a_vector_is_one_sample_a_series():
    """An instant query without a range gives the newest sample alone."""
    text = json.dumps(
        {
            "status": "success",
            "data": {"resultType": "vector", "result": [{"metric": LABELS, "value": [1770091506, "7"]}]},
        }
    )

    (series,), _ = from_matrix(text)

    assert (series.time_ns.tolist(), series.values.tolist()) == ([1770091506 * 10**9], [7.0])


def test_warnings_of_the_server_are_findings():
    """A partial answer says so in its envelope."""
    _, findings = from_matrix(matrix(warnings=["store down", "store down"]), source="prom:9090")

    assert [(each.code, each.message) for each in findings] == [
        ("source-warning", "prom:9090 says: store down")
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"status":"error","errorType":"execution","error":"too many samples"}', "too many samples"),
        ('{"status":"success","data":{"resultType":"scalar","result":[0,"1"]}}', "scalar"),
        ("<html>", "JSON"),
        ("[]", "an object"),
        ("[" * 100_000, "JSON"),
        ("{}", "no status"),
    ],
)
def test_what_is_no_answer_is_refused_in_one_line(text: str, said: str):
    """The message says what was seen."""
    with pytest.raises(BadInputError, match=said) as caught:
        from_matrix(text)

    assert "\n" not in str(caught.value)


def test_a_bad_value_costs_itself_and_a_bad_instant_its_sample():
    """The rest of the series stays, and the loss is counted."""
    values = [[1, "1"], [2, "N/A"], ["x", "3"], [4, "4"], [5], "no pair"]

    (series,), (finding,) = from_matrix(matrix({"metric": LABELS, "values": values}))

    assert series.time_ns.tolist() == [1 * 10**9, 2 * 10**9, 4 * 10**9]
    np.testing.assert_array_equal(series.values, [1.0, np.nan, 4.0])
    assert (finding.code, finding.message[:9]) == ("bad-cell", "4 samples")


def test_a_bad_series_costs_itself():
    """One that cannot be read hides no other."""
    good = {"metric": LABELS, "values": [[1, "1"]]}

    series, (finding,) = from_matrix(matrix(good, {"metric": {"UUID": 7}}, [], {"metric": {}, "values": {}}))

    assert len(series) == 1
    assert (finding.code, finding.message[:11]) == ("bad-row", "3 of 4 seri")


def test_lines_of_an_export_are_series():
    """Times are milliseconds, null is missing, infinities are words."""
    line = (
        b'{"metric":{"__name__":"up"},"values":[412.1,null,"Infinity","-Infinity"],'
        b'"timestamps":[1770091506100,1770091507100,1770091508100,1770091509100]}\n'
    )

    series, findings = from_export_lines(line + b"\n" + line)

    assert [each.name for each in series] == ["up", "up"]
    assert series[0].time_ns[:2].tolist() == [17700915061 * 10**8, 17700915071 * 10**8]
    np.testing.assert_array_equal(series[0].values, [412.1, np.nan, np.inf, -np.inf])
    assert findings == []


def test_a_cut_export_keeps_what_came_before():
    """The last line may have no end."""
    line = b'{"metric":{"__name__":"up"},"values":[1],"timestamps":[1000]}\n'

    series, (finding,) = from_export_lines(line + line[:-20])

    assert [each.values.tolist() for each in series] == [[1.0]]
    assert finding.code == "truncated"


def test_a_bad_line_costs_itself():
    """Samples without an instant each are no series."""
    line = b'{"metric":{"__name__":"up"},"values":[1],"timestamps":[1000]}\n'

    series, (finding,) = from_export_lines(line + line.replace(b"[1]", b"[1,2]") + line)

    assert len(series) == 2
    assert finding.code == "bad-row"


def test_lines_of_something_else_are_refused():
    """The message shows the first of them."""
    with pytest.raises(BadInputError, match="timestamp,power"):
        from_export_lines(b"timestamp,power\n1,2\n")


def test_nothing_is_no_series():
    """An empty export is an answer: there was nothing in that time."""
    assert from_export_lines(b"") == ([], [])


@given(samples=SAMPLES)
def test_both_formats_give_the_same_series(samples: list[tuple[int, float | None]]):
    """The same samples, whoever kept them."""
    texts = [[ms / 1000, "NaN" if value is None else repr(value)] for ms, value in samples]
    numbers: list[Any] = [
        value if value is None or np.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
        for _, value in samples
    ]
    line = json.dumps({"metric": LABELS, "values": numbers, "timestamps": [ms for ms, _ in samples]})

    (matrix_series,), _ = from_matrix(matrix({"metric": LABELS, "values": texts}))
    (line_series,), _ = from_export_lines(line.encode())

    assert matrix_series.time_ns.tolist() == line_series.time_ns.tolist() == [ms * 10**6 for ms, _ in samples]
    np.testing.assert_array_equal(matrix_series.values, line_series.values)


@given(found=JSON)
def test_any_json_is_series_or_refused(found: object):
    """No content crashes a reader."""
    text = json.dumps(found)
    for read in (from_matrix, from_export_lines):
        try:
            series, _ = read(text.encode())
        except BadInputError:
            continue
        assert all(len(each.time_ns) == len(each.values) for each in series)


@given(data=st.binary(max_size=60))
def test_any_bytes_are_series_or_refused(data: bytes):
    """No bytes crash a reader."""
    for read in (from_matrix, from_export_lines):
        try:
            series, _ = read(data)
        except BadInputError:
            continue
        assert series == []


def test_a_series_has_an_instant_for_each_value():
    """A value without an instant is no sample."""
    with pytest.raises(InvalidNounError, match="up"):
        Series({"__name__": "up"}, np.zeros(2, dtype=np.int64), np.zeros(3))
