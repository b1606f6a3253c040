"""``flopwitness fetch``: a stretch of an API as our Parquet."""

import time
from pathlib import Path

import pytest

from emulators.prometheus_api import PretendedApi, Samples
from flopwitness.app.cli import fetch
from flopwitness.core.errors import BadInputError, FlopWitnessError
from flopwitness.storage.recordings import read_recording

TOKEN = "s3cret"  # noqa: S105  of a test


def lately(n_seconds: int = 30) -> Samples:
    """Return a GPU that was scraped every second until now."""
    samples, now_ms = Samples(), time.time_ns() // 10**6
    for second in range(n_seconds, 0, -1):
        samples.add(now_ms - 1000 * second, 300.0, name="DCGM_FI_DEV_POWER_USAGE", UUID="GPU-a")
    return samples


def test_it_writes_what_was_kept_and_says_how_much(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The token is sent, and never shown."""
    token_file, output = tmp_path / "token", tmp_path / "gpus.parquet"
    token_file.write_text(TOKEN)

    with PretendedApi(lately()) as server:
        status = fetch.run(server.url, output, since="10m", token_file=token_file)
        said = "".join(capsys.readouterr())

    (trace,) = read_recording(output).traces
    assert status == 0
    assert set(server.tokens) == {f"Bearer {TOKEN}"}
    assert f"1 GPUs, {len(trace)} new samples" in said
    assert TOKEN not in said
    assert set(trace["power_watts"].tolist()) == {300.0}


def test_again_it_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What came meanwhile is added."""
    output = tmp_path / "gpus.parquet"
    samples = lately()
    with PretendedApi(samples) as server:
        fetch.run(server.url, output, until="10s")
        n_before = len(read_recording(output).traces[0])
        capsys.readouterr()

        fetch.run(server.url, output)

    n_after = len(read_recording(output).traces[0])
    assert n_after > n_before
    assert f"{n_after - n_before} new samples" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"since": "2026-02-03T04:05:06"}, "--since"),
        ({"since": "1h", "until": "2h"}, "--until"),
        ({"url": "ftp://nowhere"}, "http://"),
        ({"url": "http://127.0.0.1:9"}, "prometheus"),
        ({"token_file": Path("/nonexistent")}, "nonexistent"),
    ],
)
def test_misuse_is_one_line(tmp_path: Path, changed: dict[str, object], said: str):
    """And no file is made."""
    arguments = {"url": "http://127.0.0.1:9", "output": tmp_path / "gpus.parquet"} | changed

    with pytest.raises(FlopWitnessError, match=said):
        fetch.run(**arguments)  # type: ignore[arg-type]

    assert list(tmp_path.iterdir()) == []


def test_no_gpu_in_that_time_is_said(tmp_path: Path):
    """An empty recording would say that all was idle."""
    with PretendedApi(Samples()) as server, pytest.raises(BadInputError, match="samples of GPUs"):
        fetch.run(server.url, tmp_path / "gpus.parquet")

    assert list(tmp_path.iterdir()) == []
