"""Pages of figures say what the kept answers say."""

import subprocess
import sys

from source_tree import ROOT


def test_the_page_of_verdicts_is_what_its_answers_draw():
    """docs/verdicts.md is drawn from ``benchmarks/results/``, never by hand: no figure of it is stale."""
    script = ROOT / "benchmarks" / "verdicts_page.py"

    drawn = subprocess.run([sys.executable, script, "--show"], check=True, capture_output=True, cwd=ROOT)

    assert (ROOT / "docs" / "verdicts.md").read_bytes() == drawn.stdout
