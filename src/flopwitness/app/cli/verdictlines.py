"""Accounts, layers of evidence and verdicts as people and programs read them."""

from collections.abc import Iterable, Mapping

from flopwitness.app.accounting import Evidence
from flopwitness.app.cli.output import data, finding_object, print_json, print_table, utc
from flopwitness.app.verdicts import Answer, Counting
from flopwitness.core.account import Account, Amount
from flopwitness.core.verdict import Claim, Threshold, Verdict
from flopwitness.verify.layers import EvidenceLayer
from flopwitness.verify.policies.combinators import gravity
from flopwitness.verify.policies.wording import chance_text, flop_text

ACCOUNT_COLUMNS = ("line", "low", "point", "high", "at most, if hostile", "device-seconds")
STYLES = ("green", "yellow", "bold red")
"""By gravity."""

INFINITE = float("inf")
SHOWN_DETAILS = 5
"""Of a layer, on a terminal; ``--json`` has all."""


def print_answer(answer: Answer, claim: Claim | None) -> None:
    """Print tables of the account and the layers, then each verdict with its reasons."""
    for account in answer.accounts.values():
        title = (
            f"{account.scope.name}: {account.target} FLOP by {account.method}, {len(account.sessions)} "
            f"sessions, {len(account.scope.devices)} devices, {utc(account.scope.start_ns)} to "
            f"{utc(account.scope.stop_ns)}"
        )
        print_table(title, ACCOUNT_COLUMNS, account_rows(account))
    rows = [_counting_row(one) for one in answer.countings]
    print_table("By convention, as verdicts read it", ("convention", "low", "point", "high", "at most"), rows)
    _print_layers(answer.layers)
    if claim is not None and answer.claim is not None:
        title = f"Claim of {flop_text(claim.flop)} FLOP, counted as {claim.convention!r}"
        _print_verdict(title, answer.claim)
    for rule, verdict in answer.thresholds:
        _print_verdict(f"{rule.name}: {'>' if rule.is_strict else '>='} {flop_text(rule.flop)}", verdict)


def account_rows(account: Account) -> list[tuple[str, ...]]:
    """Return the lines of an account: what was seen, what was seen outside sessions, what nobody saw, all."""
    seconds = account.scope.device_seconds
    waiting = f", {len(account.not_estimated)} sessions without an estimate" * bool(account.not_estimated)
    return [
        ("observed in sessions", *_ends(account.observed), "-"),
        ("seen outside sessions", *_unseen(account.outside_flop), "-"),
        (
            f"unobserved{waiting}",
            *_unseen(account.unobserved_flop),
            f"{account.unobserved_device_seconds:.6g}",
        ),
        ("total", *_ends(account.total), f"{seconds:.6g}"),
    ]


def _ends(amount: Amount) -> tuple[str, ...]:
    ends = (amount.low_flop, amount.point_flop, amount.high_flop, amount.most_flop)
    return tuple(map(flop_text, ends))


def _unseen(flop: float) -> tuple[str, ...]:
    return "0", "-", flop_text(flop), flop_text(flop)


def _counting_row(counting: Counting) -> tuple[str, ...]:
    return counting.convention.name, *_ends(counting.weighed.total)


def _print_layers(layers: Iterable[EvidenceLayer]) -> None:
    console = data()
    console.print("What each kind of evidence says; none decides alone", style="bold", markup=False)
    for one in layers:
        console.print(f"  {one.name} {one.answer.value}: {one.summary}", markup=False)
        for detail in one.details[:SHOWN_DETAILS]:
            console.print(f"    {detail}", markup=False, style="dim")


def _print_verdict(title: str, verdict: Verdict) -> None:
    console = data()
    console.print(f"\n{title}", style="bold", markup=False)
    console.print(f"{verdict.answer.value.upper()}", style=STYLES[gravity(verdict)], markup=False)
    for reason in verdict.reasons:
        console.print(f"  - {reason}", markup=False)
    if verdict.probability_over is not None:
        least, most = verdict.probability_over
        console.print(
            f"  probability of more than is claimed or allowed: {chance_text(least)} to {chance_text(most)}",
            markup=False,
        )
    for remedy in verdict.would_settle:
        console.print(f"  would settle it: {remedy}", markup=False)


def print_answer_json(
    evidence: Evidence, answer: Answer, claim: Claim | None, *, more: Mapping[str, object]
) -> None:
    """Print everything, and what else is to be told, as one JSON object; an infinite bound is null."""
    scope = evidence.scope
    verdicts = [] if claim is None or answer.claim is None else [_claim_object(claim, answer.claim)]
    verdicts += [_threshold_object(rule, verdict) for rule, verdict in answer.thresholds]
    print_json(
        {
            "scope": {
                "name": scope.name,
                "devices": list(scope.devices),
                "start": utc(scope.start_ns),
                "stop": utc(scope.stop_ns),
                "device_seconds": scope.device_seconds,
            },
            "sources": dict(evidence.digests),
            "accounts": [account_object(account) for account in answer.accounts.values()],
            "conventions": [_counting_object(one) for one in answer.countings],
            "layers": [_layer_object(one) for one in answer.layers],
            "verdicts": verdicts,
            "findings": [finding_object(finding) for finding in evidence.findings],
            "status": answer.status,
            **more,
        }
    )


def account_object(account: Account) -> dict[str, object]:
    """Return an account as JSON values."""
    return {
        "target": account.target.value,
        "method": account.method,
        "coverage_ratio": account.coverage_ratio,
        "observed": amount_object(account.observed),
        "outside_flop": _finite(account.outside_flop),
        "unobserved_device_seconds": account.unobserved_device_seconds,
        "unobserved_flop": _finite(account.unobserved_flop),
        "total": amount_object(account.total),
        "not_estimated": list(account.not_estimated),
        "sessions": [
            {
                "session_id": one.session_id,
                "start": utc(one.start_ns),
                "stop": utc(one.stop_ns),
                "devices": list(one.devices),
                "source": one.source,
                "digest": one.digest,
                "findings": [finding_object(finding) for finding in one.findings],
            }
            for one in account.sessions
        ],
    }


def amount_object(amount: Amount) -> dict[str, float | None]:
    """Return an amount as JSON values."""
    names = ("low_flop", "point_flop", "high_flop", "most_flop")
    return {name: _finite(getattr(amount, name)) for name in names}


def _finite(flop: float) -> float | None:
    return flop if flop < INFINITE else None


def _counting_object(counting: Counting) -> dict[str, object]:
    total = counting.total
    return {
        "name": counting.convention.name,
        "target": counting.convention.target.value,
        "total": amount_object(counting.weighed.total),
        "with_declared": amount_object(total.amount),
        "without_declared": amount_object(total.without_declared),
        "steps": [step.sentence for step in total.steps],
    }


def _layer_object(layer: EvidenceLayer) -> dict[str, object]:
    return {
        "name": layer.name,
        "answer": layer.answer.value,
        "summary": layer.summary,
        "details": list(layer.details),
    }


def _claim_object(claim: Claim, verdict: Verdict) -> dict[str, object]:
    return {
        "claim": {
            "declarant": claim.declarant,
            "flop": claim.flop,
            "convention": claim.convention,
            "margin_ratio": claim.margin_ratio,
        }
    } | _verdict_object(verdict)


def _threshold_object(rule: Threshold, verdict: Verdict) -> dict[str, object]:
    return {"rule": rule.name, "flop": rule.flop, "is_strict": rule.is_strict} | _verdict_object(verdict)


def _verdict_object(verdict: Verdict) -> dict[str, object]:
    return {
        "answer": verdict.answer.value,
        "reasons": list(verdict.reasons),
        "convention": verdict.convention,
        "probability_over": None if verdict.probability_over is None else list(verdict.probability_over),
        "would_settle": list(verdict.would_settle),
        "evidence_digests": list(verdict.evidence_digests),
    }
