"""``--config``: where the file is looked for, and that a command line beats it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flopwitness.app.cli.config_option import VARIABLE, found_config
from flopwitness.app.cli.main import status_of

HANG = Path(__file__).resolve().parents[3] / "datasets" / "h200x2-hang"


def test_the_file_named_beats_the_environment_and_that_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Else none; a named one is returned though it is not there, so that reading it can say so."""
    system, other = tmp_path / "system.toml", tmp_path / "other.toml"
    monkeypatch.delenv(VARIABLE, raising=False)

    assert found_config(None, system=system) is None
    system.touch()
    assert found_config(None, system=system) == system
    monkeypatch.setenv(VARIABLE, str(other))
    assert found_config(None, system=system) == other
    assert found_config(tmp_path / "named", system=system) == tmp_path / "named"


def test_a_command_line_beats_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """The file brings the recording, JSON and an end; the journal of the command line is the one written."""
    path = tmp_path / "config.toml"
    path.write_text(
        f"replay = '{HANG}'\njson = true\nonce = true\njournal = 'file.jsonl'\n", encoding="utf-8"
    )
    monkeypatch.setenv(VARIABLE, str(path))

    assert status_of(["watch", "--journal", str(tmp_path / "line.jsonl")]) == 0

    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["n_samples"] > 0
    assert (tmp_path / "line.jsonl").exists()
    assert not (tmp_path / "file.jsonl").exists()


def test_a_bad_file_ends_the_command_before_it_watches(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """One line, status 2."""
    path = tmp_path / "config.toml"
    path.write_text("intervall = 1\n", encoding="utf-8")

    assert status_of(["watch", "--config", str(path)]) == 2

    assert capsys.readouterr().err.startswith(f"flopwitness: {path}: key 'intervall': expected")


def test_without_a_file_nothing_is_imported_for_one():
    """A daemon does not wait for what it does not use."""
    code = (
        "import sys; from flopwitness.app.cli.main import status_of; "
        f"status_of(['watch', '--replay', {str(HANG)!r}, '--once']); "
        "unwanted = {'tomllib', 'flopwitness.app.configuring', 'flopwitness.app.serving', 'fastapi', "
        "'opentelemetry', 'flopwitness.app.scheduler_jobs', 'http.server'}; "
        "sys.exit(len(unwanted & set(sys.modules)))"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
