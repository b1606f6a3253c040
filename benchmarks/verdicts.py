"""How often verdicts are right: 500 scopes drawn from the recordings, with true and false claims.

Run ``python benchmarks/verdicts.py`` from the repository's root; it writes
``benchmarks/results/verdicts/verdicts.json``: the command, the counts of every answer for each claim, the
rate of false accusations against the one that was promised, and every wrong answer with its numbers, as well
as the false claims that stayed open.

Scopes are of one node, claims are weighed with a calibration that was made on the other. Most are sessions as
they were logged, as if nothing had run between them; the others are stretches of a recording in which the
detector finds what ran, its truth all that was logged there, warm-up included.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from results_cases import OWN_NODES
from verdict_scopes import METHOD, SESSIONS, Drawn, others_of, scopes_of

from flopwitness.core.account import Account
from flopwitness.core.verdict import Claim, Outcome, Verdict
from flopwitness.core.workload import Target
from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.dependence import Dependence
from flopwitness.verify.policies.claim import ClaimPolicy

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "verdicts" / "verdicts.json"
SEED = 0
N_SCOPES = 500
DECLARED_SHARES = {
    "true": 1.0,
    "under by 10 %": 0.9,
    "under by 30 %": 0.7,
    "under by 50 %": 0.5,
    "over by 30 %": 1.3,
}
CONFIDENCES = (0.9, 0.95, 0.99)
"""The default of ``ClaimPolicy`` is the second."""

NO_RECOMPUTATION = {"recompute_factor": 1.0}
SHOWN_OPEN = 5


@dataclass(frozen=True, slots=True)
class Case:
    """A way to count, what is declared and believed beside the claim, and whether errors may average out."""

    name: str
    convention: str
    declared: Mapping[str, float]
    is_measured: bool = False

    @property
    def target(self) -> Target:
        """What the convention starts from."""
        return CONVENTIONS[self.convention].target


CASES = (
    Case("executed", "executed", {}),
    Case("algorithmic, no recomputation believed", "algorithmic", NO_RECOMPUTATION),
    Case("algorithmic, nothing declared", "algorithmic", {}),
    Case("executed, measured dependence", "executed", {}, is_measured=True),
    Case(
        "algorithmic, no recomputation believed, measured dependence",
        "algorithmic",
        NO_RECOMPUTATION,
        is_measured=True,
    ),
)


def answers_of(
    drawn: Sequence[Drawn], case: Case, confidence: float
) -> Iterator[tuple[str, Drawn, Verdict, Account]]:
    """Yield the verdict on each claim of each scope whose truth is known."""
    convention = CONVENTIONS[case.convention]
    for one in drawn:
        truth = one.truth[case.target]
        if not np.isfinite(truth):
            continue
        found = one.account(case.target, is_measured=case.is_measured)
        for name, share in DECLARED_SHARES.items():
            claim = Claim("Nobody", truth * share, case.convention)
            policy = ClaimPolicy(
                claim, convention, case.declared, trusts_declared=True, confidence_ratio=confidence
            )
            yield name, one, policy.judge(found), found


def is_wrong(name: str, answer: Outcome) -> bool:
    """Say whether an answer is false: a true claim contradicted, or an under-declared one borne out."""
    return answer is (Outcome.INCONSISTENT if name == "true" else Outcome.CONSISTENT)


def explained(name: str, one: Drawn, verdict: Verdict, found: Account) -> dict[str, object]:
    """Return a wrong verdict with its numbers."""
    total, truth = found.total, one.truth[found.target]
    return {
        "claim": name,
        "scope": one.scope.name,
        "n_sessions": len(one.sessions),
        "answer": verdict.answer.value,
        "truth_over_point": truth / total.point_flop,
        "low_over_truth": total.low_flop / truth,
        "high_over_truth": total.high_flop / truth,
        "outside_over_truth": found.outside_flop / truth,
        "probability_over": list(verdict.probability_over or ()),
        "reasons": list(verdict.reasons[:1]),
    }


def table(drawn: Sequence[Drawn], case: Case, confidence: float) -> dict[str, object]:
    """Count the answers to each claim, and keep the wrong ones."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in DECLARED_SHARES}
    why_open: Counter[str] = Counter()
    wrong, still_open = [], []
    for name, one, verdict, found in answers_of(drawn, case, confidence):
        counts[name][verdict.answer.value] += 1
        if is_wrong(name, Outcome(verdict.answer)):
            wrong.append(explained(name, one, verdict, found))
        elif name != "true" and verdict.answer is Outcome.INCONCLUSIVE:
            still_open.append(explained(name, one, verdict, found))
        if name == "true" and verdict.answer is Outcome.INCONCLUSIVE:
            why_open[verdict.reasons[0].split(":")[0][:80]] += 1
    n_scopes = sum(counts["true"].values())
    return {
        "n_scopes": n_scopes,
        "confidence_ratio": confidence,
        "promised_false_ratio": 1 - confidence,
        "false_accusation_ratio": counts["true"]["inconsistent"] / n_scopes,
        "claims": {
            name: {answer.value: held[answer.value] for answer in Outcome}
            | {"inconsistent_ratio": held["inconsistent"] / n_scopes}
            for name, held in counts.items()
        },
        "why_true_claims_stay_open": dict(why_open.most_common()),
        "n_wrong": len(wrong),
        "wrong": wrong,
        "n_open": len(still_open),
        "open": still_open[:SHOWN_OPEN],
    }


def coverage(drawn: Sequence[Drawn], target: Target) -> dict[str, float]:
    """Return how often the bounds of accounts hold the truth, and how wide they are."""
    rows = []
    for one in drawn:
        found = one.account(target).total
        truth = one.truth[target]
        if np.isfinite(truth):
            rows.append((found.low_flop <= truth <= found.high_flop, truth <= found.most_flop, found, truth))
    widths = [(found.high_flop - found.low_flop) / found.point_flop for _, _, found, _ in rows]
    errors = [abs(np.log(truth / found.point_flop)) for _, _, found, truth in rows]
    return {
        "coverage_ratio": float(np.mean([held for held, _, _, _ in rows])),
        "most_coverage_ratio": float(np.mean([held for _, held, _, _ in rows])),
        "median_width_ratio": float(np.median(widths)),
        "median_abs_error_log": float(np.median(errors)),
        "worst_abs_error_log": float(np.max(errors)),
    }


def shares_object(shares: Mapping[Target, Dependence]) -> dict[str, dict[str, float]]:
    """Return shares of the variance by target."""
    return {
        target.value: {
            "shared_ratio": one.shared_ratio,
            "workload_ratio": one.workload_ratio,
            "own_ratio": one.own_ratio,
        }
        for target, one in shares.items()
    }


def answered(drawn: Sequence[Drawn]) -> dict[str, object]:
    """Return coverage of accounts and counts of verdicts, over all scopes and by how they were drawn."""
    by_kind = {"all": drawn} | {
        kind: [one for one in drawn if one.kind == kind] for kind in ("logged", "found")
    }
    return {
        "coverage": {
            kind: {target.value: coverage(some, target) for target in Target}
            for kind, some in by_kind.items()
        },
        "verdicts": {
            case.name: {
                f"confidence {confidence:g}": {
                    kind: table(some, case, confidence) for kind, some in by_kind.items()
                }
                for confidence in CONFIDENCES
            }
            for case in CASES
        },
    }


def main() -> None:
    """Draw scopes, weigh claims, write the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--scopes", type=int, default=N_SCOPES)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    began = time.monotonic()
    nodes = {node: [ROOT / path for path in paths] for node, paths in OWN_NODES.items()}
    drawn, shares = scopes_of(nodes, asked.scopes, np.random.default_rng(asked.seed))
    answer = {
        "command": "python benchmarks/verdicts.py",
        "seed": asked.seed,
        "n_scopes": len(drawn),
        "sessions": list(SESSIONS),
        "calibrated_on": others_of(nodes),
        "method": METHOD,
        "dependence": {node: shares_object(own) for node, own in shares.items()},
    } | answered(drawn)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(answer, indent=1, allow_nan=False) + "\n")
    print(f"{len(drawn)} scopes in {time.monotonic() - began:.0f} s: {asked.out}")  # noqa: T201


if __name__ == "__main__":
    main()
