"""The page of missing signals says what the kept answers say."""

import subprocess
import sys

from source_tree import ROOT


def test_the_page_of_missing_signals_is_what_its_answers_draw():
    """docs/missing-signals.md is drawn from ``benchmarks/results/``, never by hand."""
    script = ROOT / "benchmarks" / "missing_signals.py"

    drawn = subprocess.run([sys.executable, script, "--show"], check=True, capture_output=True, cwd=ROOT)

    assert (ROOT / "docs" / "missing-signals.md").read_bytes() == drawn.stdout
