"""``flopwitness serve``: prints where to look, shows a replay, stays when it is over, ends when asked to."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from app.serving_book import DATASETS
from flopwitness.app.cli.serve import run
from flopwitness.core.errors import BadInputError

RECORDING = DATASETS / "h200x2-b"
SERVE = (sys.executable, "-c", "from flopwitness.app.cli.serve import run; import typer; typer.run(run)")


@contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """Run the command; yield the process, its address and its token."""
    process = subprocess.Popen(
        (*SERVE, "--listen", "127.0.0.1:0", *options), stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        said = re.fullmatch(r"open (http://127\.0\.0\.1:\d+/)#token=(\S+)\n", process.stderr.readline())
        assert said is not None
        yield process, said[1], said[2]
    finally:
        process.kill()
        process.communicate()


def test_a_replay_is_served_until_somebody_ends_it():
    """Both GPUs, the finished workload, and its page after the last sample; SIGINT ends it in order."""
    with serving("--replay", str(RECORDING), "--speed", "0") as (process, address, token):
        assert process.stderr is not None
        over = process.stderr.readline()
        bearer = {"authorization": f"Bearer {token}"}
        state = httpx.get(f"{address}api/snapshot", headers=bearer).json()
        process.send_signal(signal.SIGINT)
        status = process.wait(20)

    assert "the replay is over" in over
    assert state["label"] == "replay of h200x2-b at full speed"
    assert state["is_over"] is True
    assert len(state["devices"]) == 2
    assert state["n_finished"] > 1
    assert status == 0


def test_it_ends_at_once_while_a_replay_runs():
    """Clients that listen do not hold it up."""
    with serving("--replay", str(RECORDING), "--speed", "0.5") as (process, address, token):
        headers = {"authorization": f"Bearer {token}"}
        with httpx.stream("GET", f"{address}api/events", headers=headers) as answer:
            next(answer.iter_lines())
            process.send_signal(signal.SIGTERM)
            status = process.wait(20)

    assert status == 0


def test_a_port_for_others_needs_a_token_file():
    """Misuse is one line that says what is missing."""
    with pytest.raises(BadInputError, match="--token-file"):
        run(replay=RECORDING, listen="0.0.0.0:0")
