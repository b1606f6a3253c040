"""What an API kept becomes a recording; a file goes on where it ends, no sample twice and none lost."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulators.prometheus_api import PretendedApi, Samples
from flopwitness.app.fetching import fetch_into, open_prometheus, token_of
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.storage.recordings import read_recording, write_recording
from flopwitness.telemetry.prometheus.client import Api, PrometheusClient
from flopwitness.telemetry.prometheus.fetching import Access

START_MS = 1_770_091_506_000
POWER, TENSOR = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"
N_SECONDS = 60


def at(second: float) -> int:
    """Return an instant, so many seconds after the first sample."""
    return START_MS * 10**6 + round(second * 10**9)


def scraped() -> Samples:
    """Return two GPUs, scraped a third of a second apart; the second comes late, and tensor with it."""
    samples = Samples()
    for second in range(N_SECONDS):
        samples.add(
            START_MS + 1000 * second, 100.0 + second, name=POWER, UUID="GPU-a", modelName="NVIDIA H200"
        )
        if second >= N_SECONDS // 2:
            when_ms = START_MS + 1000 * second + 333
            samples.add(when_ms, 200.0 + second, name=POWER, UUID="GPU-b", modelName="NVIDIA H200")
            samples.add(when_ms, second / 100, name=TENSOR, UUID="GPU-b", modelName="NVIDIA H200")
    return samples


@pytest.fixture(scope="module")
def server() -> Iterator[PretendedApi]:
    """Serve them."""
    with PretendedApi(scraped()) as running:
        yield running


@pytest.fixture
def client(server: PretendedApi) -> PrometheusClient:
    """Ask it."""
    return PrometheusClient(Access(server.url))


@pytest.mark.parametrize("api", Api)
def test_a_stretch_is_a_recording(server: PretendedApi, api: Api):
    """Of either API the same."""
    recording = open_prometheus(PrometheusClient(Access(server.url), api=api), at(10), at(40))

    first, second = recording.traces
    assert first["power_watts"].tolist() == [110.0 + second for second in range(31)]
    assert [first.device.chip, second.device.uuid, len(second)] == ["H200-SXM", "GPU-b", 10]
    assert (recording.provenance.source, recording.provenance.interval_seconds) == ("prometheus", 1.0)
    assert f"http://{recording.name}" == server.url


def test_nothing_kept_is_no_recording(client: PrometheusClient):
    """It is said which server had none."""
    with pytest.raises(BadInputError, match=r"127\.0\.0\.1.*samples of GPUs"):
        open_prometheus(client, at(1000), at(2000))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stops=st.lists(st.integers(0, 10 * N_SECONDS), max_size=4), most_cells=st.sampled_from([1, 10**6]))
def test_a_file_goes_on_where_it_ends(
    client: PrometheusClient, tmp_path_factory: pytest.TempPathFactory, stops: list[int], most_cells: int
):
    """However often it is fetched, and up to when: in the end it is what one fetch gives."""
    path = tmp_path_factory.mktemp("fetched") / "gpus.parquet"

    n_new = [
        fetch_into(path, client, at(0), at(stop / 10), most_cells=most_cells)
        for stop in (*sorted(stops), 10 * N_SECONDS)
    ]

    expected = open_prometheus(client, at(0), at(N_SECONDS))
    found = read_recording(path)
    assert sum(n_new) == sum(map(len, expected.traces))
    assert [values(trace) for trace in found.traces] == [values(trace) for trace in expected.traces]


def values(trace: Trace) -> tuple[object, ...]:
    """Return device, instants and columns to compare; NaN as None."""
    columns = {
        name: [None if np.isnan(value) else value for value in column.tolist()]
        for name, column in sorted(trace.channels.items())
    }
    return trace.device, trace.time_ns.tolist(), columns


def test_nothing_new_leaves_the_file_alone(client: PrometheusClient, tmp_path: Path):
    """Not a byte changes."""
    path = tmp_path / "gpus.parquet"
    fetch_into(path, client, at(0), at(N_SECONDS))
    before = path.read_bytes()

    assert fetch_into(path, client, at(0), at(N_SECONDS)) == 0
    assert path.read_bytes() == before


def test_a_file_of_another_source_is_not_touched(client: PrometheusClient, tmp_path: Path):
    """Samples of two sources are not strung together."""
    path = tmp_path / "gpus.parquet"
    other = open_prometheus(client, at(0), at(10))
    write_recording(path, Recording("node-a", other.traces, Provenance("nvml+gpm")))

    with pytest.raises(BadInputError, match="node-a"):
        fetch_into(path, client, at(0), at(N_SECONDS))

    assert read_recording(path).name == "node-a"


def test_a_token_is_what_the_file_holds(tmp_path: Path):
    """Without the line end that editors write."""
    path = tmp_path / "token"
    path.write_text("abc\n")

    assert (token_of(path), token_of(None)) == ("abc", "")


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe"])
def test_a_token_file_without_a_token_is_refused(tmp_path: Path, content: bytes):
    """Asking without one would be answered by a refusal that is hard to understand."""
    path = tmp_path / "token"
    path.write_bytes(content)

    with pytest.raises(BadInputError, match="a token"):
        token_of(path)
