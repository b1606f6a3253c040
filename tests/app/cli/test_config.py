"""``flopwitness config``: what is in force, where it came from; and what becomes of it on a command line."""

import json
from pathlib import Path

import pytest

from flopwitness.app.cli.config import run
from flopwitness.app.configuring_table import OPTIONS


def test_it_shows_every_option_with_its_value_and_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """One object an option: value, source, default, type, unit, commands and what it does."""
    path = tmp_path / "config.toml"
    path.write_text("interval = 0.25\n", encoding="utf-8")

    assert run(config=path, json=True) == 0

    found = {one["name"]: one for one in map(json.loads, capsys.readouterr().out.splitlines())}
    assert list(found) == list(OPTIONS)
    assert (found["interval"]["value"], found["interval"]["source"]) == (0.25, str(path))
    assert (found["speed"]["value"], found["speed"]["source"]) == (0.0, "default")
    assert all(one["summary"] and one["commands"] for one in found.values())


def test_the_table_for_people_names_them_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Off is a dash."""
    path = tmp_path / "config.toml"
    path.write_text("detector = 'experiment'\n", encoding="utf-8")

    run(config=path)

    shown = capsys.readouterr().out
    assert "experiment" in shown
    assert all(name in shown for name in OPTIONS)


def test_a_file_can_be_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Before a daemon is started with it."""
    path = tmp_path / "config.toml"
    path.write_text("once = true\nspeed = 2\n", encoding="utf-8")

    assert run(check=path) == 0

    assert capsys.readouterr().out == f"{path}: 2 options set, each as it should be\n"


def test_the_example_can_be_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What is printed is what is accepted."""
    run(example=True)
    path = tmp_path / "config.toml"
    path.write_text(capsys.readouterr().out, encoding="utf-8")

    assert run(check=path) == 0
