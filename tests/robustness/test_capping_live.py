"""Power limits on a made-up NVML, set by a real process that is then stopped or killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from robustness.node import Node, waited_for

HOLD = """
import sys, time
from pathlib import Path
from flopwitness.lab.capping import Setting, capped
from flopwitness.lab.capping_nvml import NvmlBoards
name, value, state = sys.argv[1:]
setting = Setting(**{name: float(value)})
with capped(NvmlBoards(), setting, confirm=lambda _: True, note=lambda _: None, state=Path(state)):
    print("set", flush=True)
    time.sleep(600)
"""
RESTORE = "import sys; from flopwitness.app.cli.redteam import app; app(['restore', '--state', sys.argv[1]])"


def started(node: Node, program: str, *arguments: str | Path, root: bool = True) -> subprocess.Popen[str]:
    """Start a program on the node, with or without the right to set its boards."""
    environment = node.environment | {"FAKE_NVML_ROOT": str(int(root))}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def kept(node: Node, what: str) -> list[int | None]:
    """Return what the boards are set to, in NVML's units; None where nobody ever set it."""
    paths = [node.control / f"{what}-{index}" for index in range(2)]
    return [int(path.read_text()) if path.exists() else None for path in paths]


def held(node: Node, name: str, value: str, state: Path) -> subprocess.Popen[str]:
    """Start what holds a setting, and wait until it does."""
    process = started(node, HOLD, name, value, state)
    assert process.stdout is not None
    assert process.stdout.readline() == "set\n"
    return process


def test_sigterm_restores_the_limits(node: Node, tmp_path: Path) -> None:
    """While it is held, both boards have it; afterwards both are as before, and no note is left."""
    state = tmp_path / "state" / "boards.json"
    process = held(node, "power_limit_watts", "300", state)
    inside = kept(node, "limit")

    process.terminate()
    process.communicate()

    assert inside == [300_000, 300_000]
    assert kept(node, "limit") == [700_000, 700_000]
    assert not state.exists()


@pytest.mark.parametrize(
    ("setting", "what", "values"),
    [
        (("power_limit_watts", "300"), "limit", (300_000, 700_000)),
        (("sm_clock_hertz", "1.2e9"), "lock", (1200, 0)),
    ],
)
def test_what_sigkill_leaves_a_restore_undoes(
    node: Node, tmp_path: Path, setting: tuple[str, str], what: str, values: tuple[int, int]
) -> None:
    """The note outlives the process; the command puts the boards back and takes it away."""
    inside, after = values
    state = tmp_path / "boards.json"
    process = held(node, *setting, state)
    process.kill()
    process.communicate()
    left = kept(node, what)

    second = started(node, HOLD, *setting, state)
    _, refused = second.communicate()
    restore = started(node, RESTORE, state)
    _, said = restore.communicate()

    assert left == [inside, inside]
    assert "boards are set already" in refused
    assert (restore.returncode, said) == (0, "2 boards restored\n")
    assert kept(node, what) == [after, after]
    assert not state.exists()


def test_a_second_signal_does_not_break_off_the_restore(node: Node, tmp_path: Path) -> None:
    """While the driver hangs in the middle of it, SIGTERM again changes nothing."""
    state = tmp_path / "boards.json"
    process = held(node, "power_limit_watts", "300", state)
    (node.control / "hang-1").touch()

    process.terminate()
    waited_for(lambda: kept(node, "limit") == [700_000, 300_000])
    process.terminate()
    (node.control / "hang-1").unlink()
    process.communicate()

    assert kept(node, "limit") == [700_000, 700_000]
    assert not state.exists()


def test_without_root_nothing_is_set_and_one_line_says_so(node: Node, tmp_path: Path) -> None:
    """No note either: there is nothing to restore."""
    process = started(node, HOLD, "power_limit_watts", "300", tmp_path / "boards.json", root=False)

    _, said = process.communicate()

    assert said.splitlines()[-1].endswith("power limits and clocks are set by root alone")
    assert kept(node, "limit") == [None, None]
    assert list(tmp_path.iterdir()) == [node.control]
