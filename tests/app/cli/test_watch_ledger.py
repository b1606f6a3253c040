"""The ledger's options of ``watch``; a node without its packages watches all the same."""

import subprocess
import sys
from pathlib import Path

import pytest

from flopwitness.app.cli.watch import run as run_watch
from flopwitness.core.errors import BadInputError
from flopwitness.storage.keys import new_key

HANG = Path(__file__).resolve().parents[3] / "datasets" / "h200x2-hang"

WITHOUT = """
import sys
sys.modules["cryptography"] = sys.modules["rfc8785"] = None
from flopwitness.app.cli import ledger
from flopwitness.app.cli.main import run
run(["watch", "--replay", sys.argv[1], "--once", *sys.argv[2:]])
"""


def test_both_options_come_together(tmp_path: Path):
    """A ledger needs its key, a key its ledger."""
    with pytest.raises(BadInputError, match="--ledger alone"):
        run_watch(replay=HANG, ledger=tmp_path / "ledger")
    with pytest.raises(BadInputError, match="--ledger-key alone"):
        run_watch(replay=HANG, ledger_key=tmp_path / "key")
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_others_may_read_is_refused_before_watching(tmp_path: Path):
    """Nothing is signed with it."""
    new_key(tmp_path / "key")
    (tmp_path / "key").chmod(0o644)

    with pytest.raises(BadInputError, match="mode 0644"):
        run_watch(replay=HANG, ledger=tmp_path / "ledger", ledger_key=tmp_path / "key")
    assert not (tmp_path / "ledger").exists()


def test_without_a_ledger_its_packages_are_not_needed():
    """Neither are they for the help; asked for one, it says what to install."""
    without = [sys.executable, "-c", WITHOUT, str(HANG)]
    plain = subprocess.run(without, capture_output=True, text=True, check=False)
    asked = subprocess.run(
        [*without, "--ledger", "x", "--ledger-key", "y"], capture_output=True, text=True, check=False
    )

    assert (plain.returncode, plain.stderr) == (0, "")
    assert asked.returncode == 2
    assert "flopwitness[ledger]" in asked.stderr
