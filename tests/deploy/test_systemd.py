"""The systemd unit: systemd finds no fault, it is closed to the world, and our command takes its line."""

import json
import shlex
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from deploy.command_lines import parsed
from flopwitness.app.configuring import read_config
from source_tree import ROOT

UNIT = ROOT / "deploy" / "systemd" / "flopwitness.service"
PROGRAM = "/usr/local/lib/flopwitness/bin/flopwitness"
MAX_EXPOSURE = 20
"""Tenths: systemd calls up to 2.0 "safe" and up to 4.0 "OK"; GPUs and a network cost the rest."""

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)


def installed(folder: Path) -> Path:
    """Return the unit as it is where the program is installed: with a program that exists."""
    path = folder / UNIT.name
    path.write_text(UNIT.read_text().replace(PROGRAM, sys.executable), encoding="utf-8")
    return path


def analysed(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run systemd-analyze."""
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False)


def service() -> dict[str, str]:
    """Return the settings of the service; of one that stands there twice the last."""
    found = ConfigParser(strict=False, interpolation=None, comment_prefixes=("#",))
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read_string(UNIT.read_text().replace("\\\n", " "))
    return dict(found["Service"])


@needs_systemd
def test_systemd_finds_no_fault(tmp_path: Path):
    """No unknown setting, no value that it would pass over."""
    found = analysed("verify", "--man=no", str(installed(tmp_path)))

    assert [line for line in found.stderr.splitlines() if UNIT.name in line] == []
    assert found.returncode == 0


@needs_systemd
def test_little_of_the_machine_is_exposed(tmp_path: Path):
    """As systemd itself counts it."""
    path = str(installed(tmp_path))
    found = analysed("security", "--offline=true", f"--threshold={MAX_EXPOSURE}", "--no-pager", path)

    assert found.returncode == 0, found.stdout[-600:]


@needs_systemd
def test_it_can_use_the_gpus_and_no_privilege(tmp_path: Path):
    """Of what systemd lists as exposed."""
    found = analysed("security", "--offline=true", "--json=short", str(installed(tmp_path)))

    exposed = {one["json_field"] for one in json.loads(found.stdout) if one["set"] is False}
    assert not {one for one in exposed if one.startswith(("CapabilityBoundingSet", "SystemCallFilter"))}
    assert not exposed & {"NoNewPrivileges", "ProtectSystem", "UserOrDynamicUser", "AmbientCapabilities"}


def test_its_command_line_is_one_of_ours():
    """Folders of its own, the page on loopback; secrets come as credentials and stand in no line."""
    program, *arguments = shlex.split(
        service()["ExecStart"].replace("%t", "/run").replace("%d", "/run/credentials")
    )
    arguments = [
        one.replace("/etc/flopwitness/config.toml", str(ROOT / "deploy" / "config.toml")) for one in arguments
    ]

    found = parsed(arguments)

    assert program == PROGRAM
    assert found["journal"] == Path("/var/lib/flopwitness/workloads.jsonl")
    assert found["ledger"] == Path("/var/lib/flopwitness/ledger")
    assert found["token_file"] == Path("/run/credentials/token")
    assert str(found["listen"]).startswith("127.0.0.1:")


def test_the_configuration_of_a_node_is_read():
    """Every key is an option, and all it writes to is the service's own folder."""
    found = read_config(ROOT / "deploy" / "config.toml")

    assert found
    assert all(str(value).startswith("/var/lib/flopwitness/") for value in found.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DynamicUser", "yes"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("CapabilityBoundingSet", ""),
        ("DevicePolicy", "closed"),
        ("DeviceAllow", "char-nvidia* rw"),
        ("StateDirectory", "flopwitness"),
        ("Restart", "on-failure"),
        ("RestartPreventExitStatus", "2"),
    ],
)
def test_what_matters_is_set(name: str, value: str):
    """Also where systemd is not there to be asked."""
    assert service()[name] == value


def test_it_promises_no_watchdog():
    """The program does not speak sd_notify: systemd would kill it for its silence."""
    assert "WatchdogSec" not in service()
    assert service()["Type"] == "exec"
