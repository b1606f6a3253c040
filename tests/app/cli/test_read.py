"""``flopwitness read``: any file, what it holds, and what a rule says of it."""

import json
from pathlib import Path

import pytest

from flopwitness.app.cli.main import status_of

MLPERF = """\
:::MLLOG {"namespace": "", "time_ms": 1770091506000, "event_type": "INTERVAL_START", "key": "power_measurement_start", "value": null, "metadata": ""}
:::MLLOG {"namespace": "", "time_ms": 1770091508000, "event_type": "POINT_IN_TIME", "key": "power_reading", "value": 5120.0, "metadata": ""}
:::MLLOG {"namespace": "", "time_ms": 1770091510000, "event_type": "POINT_IN_TIME", "key": "power_reading", "value": 5130.0, "metadata": ""}
:::MLLOG {"namespace": "", "time_ms": 1770091512000, "event_type": "POINT_IN_TIME", "key": "power_reading", "value": 5140.0, "metadata": ""}
"""  # noqa: E501  lines as they are written

UNMEASURED = """\
2026-02-03 04:05:06 - Epoch 1:
2026-02-03 04:07:28 - Duration: 0:02:21.90
2026-02-03 04:07:28 - Average power usage (W) for gpu: None
"""

SMI = """\
timestamp, index, power.draw [W], clocks.current.sm [MHz]
2026/02/03 04:05:06.789, 0, 412.10 W, 1755 MHz
2026/02/03 04:05:07.789, 0, broken, 1755 MHz
2026/02/03 04:05:08.789, 0, 400.00 W, 1755 MHz
"""


def _file(folder: Path, text: str) -> str:
    path = folder / "upload"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_period_that_a_rule_requires_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Every two seconds is not once a second; status 1, and the true period is said."""
    path = _file(tmp_path, MLPERF)

    loose, strict = (status_of(["read", path, "--required-period", limit]) for limit in ("2", "1"))

    assert (loose, strict) == (0, 1)
    assert "was sampled every 2 s" in capsys.readouterr().out


def test_an_unmeasured_figure_is_no_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A ``None`` of carbontracker is no number; ``--strict`` leaves with status 3."""
    path = _file(tmp_path, UNMEASURED)

    said = [status_of(["read", path, "--tz", "UTC", "--json", *extra]) for extra in ([], ["--strict"])]

    rows = json.loads(capsys.readouterr().out.splitlines()[0])["rows"]
    assert said == [0, 3]
    assert any(value is None for row in rows for name, value in row.items() if "power" in name)


def test_a_bad_cell_costs_itself_and_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What was good is answered; the fault goes to standard error with its line, status 2."""
    status = status_of(["read", _file(tmp_path, SMI), "--tz", "UTC", "--json"])

    told = capsys.readouterr()
    channels = json.loads(told.out)["devices"][0]["channels"]
    assert status == 2
    assert (channels["power_watts"]["n_missing"], channels["sm_clock_hertz"]["n_missing"]) == (1, 0)
    assert "line 3" in told.err


def test_a_zone_that_is_missing_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """No zone is guessed; one line says what to give."""
    status = status_of(["read", _file(tmp_path, SMI)])

    said = capsys.readouterr().err
    assert (status, said.count("\n")) == (2, 1)
    assert "--tz" in said


def test_every_format_is_listed(capsys: pytest.CaptureFixture[str]):
    """What can be read, for people and for scripts."""
    said = [status_of(["formats", *extra]) for extra in ([], ["--json"])]

    table, _, listed = capsys.readouterr().out.rpartition("[{")
    names = [form["name"] for form in json.loads("[{" + listed)]
    assert said == [0, 0]
    assert "nvidia-smi-csv" in names
    assert all(name in table for name in names)
