"""Who looks on: each gets every batch and workload; one that fails is left out, and watching goes on."""

import json
from io import StringIO
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from rich.console import Console

from flopwitness.app.cli.watch import run as run_watch
from flopwitness.app.cli.watch_observers import Onlookers, Wanted, onlookers, open_jobs
from flopwitness.app.sources import ReplaySource
from flopwitness.app.ticking import HostClock
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import Target

HANG = Path(__file__).resolve().parents[3] / "datasets" / "h200x2-hang"


class Noted:
    """Notes what it is shown; breaks when told to."""

    def __init__(self, *, breaks_at: str = "") -> None:
        self.acts: list[str] = []
        self._breaks_at = breaks_at

    def _note(self, act: str) -> None:
        self.acts.append(act)
        if act == self._breaks_at:
            raise RuntimeError("ours")

    def take(self, _: object) -> None:
        """Note it."""
        self._note("take")

    def count(self, _: object) -> None:
        """Note it."""
        self._note("count")

    def close(self) -> None:
        """Note it."""
        self._note("close")


@pytest.fixture
def source() -> ReplaySource:
    """Return a recording to watch."""
    return ReplaySource(HANG, HostClock(), chip="H200-SXM", speed=0)


@pytest.mark.parametrize("act", ["take", "count"])
def test_one_that_fails_is_left_out_and_the_others_go_on(act: str):
    """It is said once, with why."""
    bad, good, said = Noted(breaks_at=act), Noted(), []
    group = Onlookers([bad, good], console=Console(file=StringIO()), say=said.append)

    for _ in range(2):
        group.take(None)  # type: ignore[arg-type]
        group.count(None)  # type: ignore[arg-type]
    group.close()

    assert good.acts == ["take", "count", "take", "count", "close"]
    assert bad.acts == ["take", "count"][: ["take", "count"].index(act) + 1]
    assert said == ["Noted failed and is left out from now on: RuntimeError: ours"]


def test_nobody_looks_on_where_nobody_was_asked_for(source: ReplaySource):
    """Lines still go somewhere."""
    with onlookers(Wanted(Target.EXECUTED), source, None) as group:
        assert group._observers == []
        assert group.console is not None


def test_a_token_needs_something_that_is_served(source: ReplaySource, tmp_path: Path):
    """It would guard nothing."""
    wanted = Wanted(Target.EXECUTED, token_file=tmp_path / "token")

    with pytest.raises(BadInputError, match="--token-file alone"), onlookers(wanted, source, None):
        pass


def test_a_folder_of_jobs_that_is_not_there_ends_the_command(source: ReplaySource, tmp_path: Path):
    """Before it watches; none is fine."""
    assert open_jobs(None, source) is None
    with pytest.raises(BadInputError, match="a folder of jobs"):
        open_jobs(tmp_path / "none", source)


def test_a_replay_takes_no_gpu_of_this_machine_for_its_own(source: ReplaySource, tmp_path: Path):
    """An index of dcgm-exporter's map is not resolved by whatever GPUs are here."""
    (tmp_path / "0").write_text("17\n", encoding="utf-8")
    jobs = open_jobs(tmp_path, source)

    assert jobs is not None
    jobs.look(10**18)
    assert jobs.windows() == ()


def test_the_page_and_the_exporter_read_one_book(
    source: ReplaySource, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Metrics are served while a block runs; a collector that is not there is no matter."""
    pytest.importorskip("fastapi", reason="the page is an extra")
    pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is an extra")
    (tmp_path / "token").write_text("t" * 32, encoding="utf-8")
    (tmp_path / "token").chmod(0o600)
    wanted = Wanted(
        Target.EXECUTED, listen="127.0.0.1:0", token_file=tmp_path / "token", otlp="http://127.0.0.1:9"
    )

    with onlookers(wanted, source, None) as group:
        url = capsys.readouterr().err.split()[1].partition("#")[0]
        asked = Request(f"{url.rstrip('/')}/metrics", headers={"Authorization": f"Bearer {'t' * 32}"})  # noqa: S310
        with urlopen(asked, timeout=10) as answer:  # noqa: S310
            assert b"flopwitness_samples_total" in answer.read()
        assert len(group._observers) == 2


def test_a_workload_names_the_jobs_that_a_scheduler_knows(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """In the line for people and in the entry; an empty list where it knows of none."""
    start = {"event": "start", "job_id": "17", "at": "2020-01-01T00:00:00Z", "gpus": ["h200x2-hang:1"]}
    (tmp_path / "jobs.jsonl").write_text(json.dumps(start) + "\n", encoding="utf-8")
    (tmp_path / "none").mkdir()

    run_watch(replay=HANG, jobs=tmp_path, once=True)
    run_watch(replay=HANG, jobs=tmp_path, once=True, json=True)
    run_watch(replay=HANG, jobs=tmp_path / "none", once=True, json=True)

    text, known, unknown = capsys.readouterr().out.splitlines()
    assert "on 2 GPUs, scheduler's job 17, work:" in text
    assert json.loads(known)["scheduler_job_ids"] == ["17"]
    assert json.loads(unknown)["scheduler_job_ids"] == []
