"""docs/missing-signals.md, drawn from what benchmarks/missing_signals.py measured."""

from collections.abc import Iterable, Mapping
from typing import Any

WORDS = {
    "all": "all signals",
    "tensor-and-clock": "matrix pipes in one channel, clock, power",
    "tensor-without-clock": "the same without the clock (mask, power kept)",
    "tensor-and-power": "the same without clock and mask",
    "tensor-alone": "matrix pipes in one channel, nothing else",
    "boost-assumed": "the same, the boost clock assumed (what a fixed peak does)",
    "power-and-clock": "power, energy, clock, mask",
    "power": "power and energy",
    "power-linear": "power and energy, the published equation",
    "mean-power": "the mean power gauge alone",
    "utilisation": "utilisation alone (a bound)",
    "node": "one meter for the node: its GPUs and a made-up host",
}

HEAD = """# When signals are missing

What an estimate loses with each signal. Everything here comes from `python
benchmarks/missing_signals.py`: bundled recordings of H200s with known executed FLOP, channels taken
away. *Shipped* is the calibration of the chip, which has seen none of these recordings (but for the
whole ones of nodes c and d); *none* is what a chip without one gets (`estimate/sparse`). The ranges of
`estimate/sparse/priors.py` come from H200 recordings, these among them: on this chip they are no test
of how far they carry.

Error: of the point, relative, median over runs. Inside: share of runs between low and high, meant to be
90 % with a calibration; without one the interval holds what ordinary training in any number format may
be, and is wider. Factor: high over low, median. Under the bound: share of runs below `at most`, which
is to hold for everybody.
"""

METHODS = """## What each answer rests on

| Method | Needs | Assumes |
|---|---|---|
| `activity-envelope` | matrix pipes, clock (or inferred) | a cycle is worth 60 to 100 % of its rate |
| `power-clock-envelope` | power or energy, clock, the die of an H200 | a board at its limit clocks down |
| `power-envelope` | power or energy | training makes a known share of the sheet's FLOP per joule |
| `node-power-envelope` | power of the node, `--gpus`, `--chip` | the same, and what a host draws |
| `utilisation-ceiling` | time alone, utilisation if there | nothing: a bound |

`at most` is the chip's ceiling over the time in which a kernel can have run; it assumes dense formats
and nothing else. Low and high assume ordinary training. Against a side that hides work the low end is
0: power can be wasted, and a kernel can spin. `--number-format half` (or fp8, tf32, fp32; repeatable)
states the format and narrows what rests on power. Each answer names the signal that would narrow it
most (finding `would-narrow`).

`linear-power`, the published equation, is narrow and wrong about runs unlike those it was fitted on:
its interval comes after the ranges above wherever one figure is shown.
"""


def page(answers: Mapping[str, Any]) -> str:
    """Return the whole page."""
    parts = [HEAD]
    for group, names in answers["groups"].items():
        rows = [row for row in answers["rows"] if row["group"] == group]
        parts.append(f"## {group.capitalize()}\n\n{', '.join(f'`{name}`' for name in names)}.\n")
        parts.append(_table(rows))
    parts.append(METHODS)
    return "\n".join(parts)


def _table(rows: Iterable[Mapping[str, Any]]) -> str:
    lines = [
        "| Signals | Calibration | Method | Runs | Error | Bias | Inside | Factor | Under the bound |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [_line(row) for row in rows]
    return "\n".join(lines) + "\n"


def _line(row: Mapping[str, Any]) -> str:
    is_bound = row["ratio"] is None
    error, bias = ("-", "-") if is_bound else (f"{row['median_error']:.1%}", f"{row['bias']:+.1%}")
    factor = "-" if is_bound else f"{row['ratio']:.3g}"
    cells = (
        WORDS.get(row["case"], row["case"]),
        "shipped" if row["calibrated"] else "none",
        f"`{row['method']}`",
        f"{row['n_runs']}",
        error.replace("%", " %"),
        bias.replace("%", " %"),
        f"{row['coverage']:.0%}".replace("%", " %"),
        factor,
        f"{row['below_most']:.0%}".replace("%", " %"),
    )
    return f"| {' | '.join(cells)} |"
