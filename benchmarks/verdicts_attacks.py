"""What docs/verdicts.md says of attacks on the classifier of work."""

from collections import defaultdict
from typing import Any

from results_tables import prose
from verdicts_cells import Found, share, table

ANSWERS = ("training", "inference", "other", "unknown")

EARLIER = {
    "answered": 0.97849,
    "forced": 0.9792,
    "split": "9 of 11 runs open, 2 inference",
    "mechanism_strict": 0.7567,
}
"""What the version before answered for node i, *split* and left-out mechanisms; that answer is not kept."""


def attack_lines(found: Found) -> list[str]:
    """Return what was said of runs that were disguised or slowed, setting by setting."""
    settings: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for row in found["shown"]:
        settings[row["family"], row["workload"]][row["answer"]] = row
    rows = [
        (name, *_setting_cells(said)) for (family, name), said in sorted(settings.items()) if family != "twin"
    ]
    shown = {family for family, _ in settings} - {"twin"}
    others = [
        (name, said["n_runs"], *(share(said["answers"][answer]) for answer in ANSWERS))
        for name, said in found["attacks"].items()
        if name not in shown
    ]
    return [
        "### Attacks",
        "",
        prose(
            "All are training that is disguised or slowed, by [the red team](redteam.md); probabilities are",
            "means over runs. Runs of known number format on the same two nodes are among the fitted.",
            "This is no untouched set: the version before called no run of *split* training",
            f"({EARLIER['split']}); windows at rest were left out with these runs known. *bursts* trains",
            "in bursts; *half* uses half of the GPUs; *handover* passes the run from GPU to GPU.",
        ),
        "",
        *table(("setting", "runs", *ANSWERS, "mean probability of training"), rows),
        "",
        "The others, by attack; *twin* is the benign run beside an attack:",
        "",
        *table(("attack", "runs", *ANSWERS), others),
    ]


def _setting_cells(said: dict[str, Any]) -> tuple[object, ...]:
    counts = [said[answer]["n_runs"] if answer in said else 0 for answer in ANSWERS]
    total = sum(counts)
    held = sum(one["n_runs"] * one["probabilities"].get("training", 0.0) for one in said.values())
    return (total, *counts, f"{held / total:.2f}")
