"""Answers of Prometheus' HTTP API that were saved to a file."""

import json

import pytest

from contracts.format import START_NS, FormatContract, codes, recording_of_bytes
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.formats.prometheus_json import FORMAT, MOST_POINTS

SECOND = 10**9
SAMPLE = b"""{"status":"success","warnings":["partial"],"data":{"resultType":"matrix","result":[
{"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE","UUID":"GPU-aaaa","pod":"p1"},
 "values":[[1770091506.1,"412.1"],[1770091507.1,"NaN"]]},
{"metric":{"__name__":"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE","UUID":"GPU-aaaa"},
 "values":[[1770091506.1,"0.5"],[1770091507.1,"0.25"],[1770091509.1,"x"]]}]}}
"""


class TestPrometheusJson(FormatContract):
    """A matrix of raw samples."""

    form = FORMAT
    sample = SAMPLE
    is_binary = True


def answer_of(*series: tuple[str, list[float]]) -> bytes:
    """Return an answer of series with a sample a second."""
    result = [
        {
            "metric": {"__name__": name, "UUID": "a"},
            "values": [[1770091506 + s, str(v)] for s, v in enumerate(values)],
        }
        for name, values in series
    ]
    data = {"resultType": "matrix", "result": result}
    return json.dumps({"status": "success", "data": data}).encode()


def test_texts_are_values_and_warnings_are_findings():
    """NaN is missing; what the server warned of is kept."""
    recording = recording_of_bytes(SAMPLE)

    (trace,) = recording.traces
    assert trace.time_ns.tolist() == [START_NS + SECOND // 10, START_NS + SECOND + SECOND // 10]
    assert str(trace["power_watts"].tolist()) == "[412.1, nan]"
    assert trace["tensor_active_ratio"].tolist() == [0.5, 0.25]
    assert {"source-warning", "bad-cell"} <= codes(recording.findings)


def test_series_without_a_uuid_are_named_by_capture_and_index():
    """Many exporters number GPUs only."""
    (trace,) = recording_of_bytes(SAMPLE.replace(b'"UUID":"GPU-aaaa"', b'"gpu":"0"')).traces

    assert trace.device.uuid == "some-upload:0"


def test_the_limit_of_a_range_query_is_told():
    """A series of as many points as the server gives at most may be cut, and its grid is no scrape's."""
    recording = recording_of_bytes(answer_of(("DCGM_FI_DEV_POWER_USAGE", [300.0] * MOST_POINTS)))

    assert {"point-limit", "may-be-resampled"} <= codes(recording.findings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"status":"error","errorType":"bad_data","error":"too many points"}', "too many points"),
        (b'{"data":{"resultType":"matrix","result":[]},"status":"success"}', "samples"),
        (b'{"resultType":"matrix"' + b"[" * 100_000, "JSON"),
    ],
)
def test_an_answer_without_samples_is_refused_in_one_line(text: bytes, said: str):
    """The server's own words are repeated."""
    with pytest.raises(BadInputError, match=said):
        recording_of_bytes(text)
