"""Write docs/verdicts.md from the answers that are there: ``python benchmarks/verdicts_page.py``.

``make verdicts`` makes the answers again before: ``classes.py``, ``coverage.py``, ``verdicts.py`` and
``ledger.py``, each of which says what it does. This script measures nothing.
"""

import argparse
import json
import sys
from collections.abc import Mapping

from results_cases import ROOT
from results_figures import standalone
from results_tables import prose
from verdicts_cells import Found, number, share, table
from verdicts_claims import DEFAULT, claim_lines, coverage_lines
from verdicts_figures import outcomes, reliability
from verdicts_kinds import kind_lines
from verdicts_ledger import ledger_lines

RESULTS = ROOT / "benchmarks" / "results"
FIGURES = ROOT / "docs" / "figures"
PAGE = ROOT / "docs" / "verdicts.md"
NAMES = ("classes", "coverage", "verdicts", "ledger")

Answers = Mapping[str, Found]
"""By name; one that was not made is missing."""

SAME_NODES, APART = "c and d: workloads held out", "c and d: families held out"
"""Questions of the coverage that aims were set for."""


def answers() -> Answers:
    """Read the answers that are there."""
    paths = {name: RESULTS / name / f"{name}.json" for name in NAMES}
    return {
        name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()
    }


def page(found: Answers) -> str:
    """Return the page."""
    lines = [
        *_head(),
        *_section("What was aimed at, and what was reached", _aims(found)),
        *_section("1. What kind of work it was", kind_lines(found["classes"])),
        *_section("2. Whether intervals hold the truth", coverage_lines(found.get("coverage"))),
        *_section("3. Claims, true and false", claim_lines(found["verdicts"])),
        *_section("4. The ledger", ledger_lines(found["ledger"])),
    ]
    return "\n".join(lines) + "\n"


def _head() -> list[str]:
    return [
        "# Verdicts, measured",
        "",
        prose(
            "Whether to rely on what `flopwitness verify` says: what kind of work it was, whether bounds",
            "hold, whether claims are judged rightly, whether the record can be altered. Drawn by",
            "`python benchmarks/verdicts_page.py` from answers as JSON in `benchmarks/results/`; `make",
            "verdicts` makes those again. Recordings are in `datasets/`, all of H200s; the letter in a",
            "name is the node. How numbers are counted: [conventions.md](conventions.md).",
        ),
    ]


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", f"## {title}", "", *lines]


def _aims(found: Answers) -> list[str]:
    rows = [*_kind_aims(found["classes"]), *_coverage_aims(found.get("coverage"))]
    rows += [*_claim_aims(found["verdicts"]), *_ledger_aims(found["ledger"])]
    return [
        prose(
            "Aims were set before the work began. Where a measure can be read in two ways, both are shown."
        ),
        "",
        *table(("measure", "aim", "reached", "met"), rows, n_words=4),
    ]


def _kind_aims(found: Found) -> list[tuple[str, ...]]:
    family, once = found["ladder"]["family"], found["once"]
    rows = []
    for words, scored in (("families left out", family), ("a new node, families of its own", once)):
        for name in ("answered", "strict", "forced"):
            ratio = scored["balanced_accuracy"][f"{name}_ratio"]
            called = "among answers" if name == "answered" else name
            rows.append(_row(f"balanced accuracy, {words}, {called}", "98 %", share(ratio), ok=ratio >= 0.98))
    taken = family["other_not_taken_for_ai_ratio"]
    return [
        *rows,
        _row("other work not taken for AI, families left out", "95 %", share(taken), ok=taken >= 0.95),
    ]


def _coverage_aims(found: Found | None) -> list[tuple[str, ...]]:
    if found is None:
        return [("90 % intervals", "88 to 94 %", "not measured", "-")]
    rows = []
    for question, aim, low, high in ((SAME_NODES, "88 to 94 %", 0.88, 0.94), (APART, "90 %", 0.9, 1.0)):
        for one in found["rows"]:
            if (one["question"], one["method"]) == (question, "fused"):
                ratio = one["coverage_ratio"]
                words = f"90 % intervals of `fused`, {one['target']}, {question}"
                rows.append(_row(words, aim, share(ratio), ok=low <= ratio <= high))
                family, least = min(
                    ((name, part["coverage_ratio"]) for name, part in one["families"].items()),
                    key=lambda pair: pair[1],
                )
                rows.append(
                    _row(f"the same, lowest family ({family})", aim, share(least), ok=low <= least <= high)
                )
    return rows


def _claim_aims(found: Found) -> list[tuple[str, ...]]:
    rows = []
    for case, held in found["verdicts"].items():
        if "measured" in case:
            continue
        said = held[DEFAULT]["all"]
        rows.append(
            _aimed(f"false accusations, {case}", "at most 5 %", said["false_accusation_ratio"], most=0.05)
        )
        for claim, least in (("under by 30 %", 0.95), ("under by 10 %", 0.6)):
            ratio = said["claims"][claim]["inconsistent_ratio"]
            words = f"{claim} called inconsistent, {case}"
            rows.append(_row(words, f"{100 * least:.0f} %", share(ratio), ok=ratio >= least))
    return rows


def _aimed(words: str, aim: str, ratio: float, *, most: float) -> tuple[str, ...]:
    return _row(words, aim, share(ratio), ok=ratio <= most)


def _ledger_aims(found: Found) -> list[tuple[str, ...]]:
    tampering, kills, verifying = found["tampering"], found["kills"], found["verifying"]
    lost, seconds = kills["acknowledged_entries_lost"], max(verifying["seconds_of_each_run"])
    rates = {
        "groups of 64": found["appending"]["groups_of_64"]["entries_per_second"],
        "groups of 64, over a million": verifying["writing"]["entries_per_second"],
    }
    return [
        _row(
            f"changes not found, of {number(tampering['changes'])}",
            "0",
            str(tampering["not_found"]),
            ok=tampering["not_found"] == 0,
        ),
        _row(
            f"acknowledged entries lost in {kills['kills']} kills",
            "0",
            str(lost),
            ok=lost == kills["ledgers_not_sound"] == 0,
        ),
        _row("a million entries verified, slowest of three", "20 s", f"{seconds:.1f} s", ok=seconds < 20),
        *(
            _row(f"appended a second, {words}", "2,000", number(rate), ok=rate >= 2000)
            for words, rate in rates.items()
        ),
    ]


def _row(measure: str, aim: str, reached: str, *, ok: bool) -> tuple[str, ...]:
    return (measure, aim, reached, "yes" if ok else "**no**")


def main() -> None:
    """Write the page, or show it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="write to standard output, change nothing")
    found = answers()
    text = page(found)
    if parser.parse_args().show:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
        draw(found)


def draw(found: Answers) -> None:
    """Write the figures."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    for figure in (outcomes(found["verdicts"]), reliability(found["classes"])):
        (FIGURES / f"{figure.get_gid()}.svg").write_text(standalone(figure), encoding="utf-8")


if __name__ == "__main__":
    main()
