"""Verdicts as entries of a ledger: what was asked, what was answered, and all that the answer rests on."""

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from flopwitness.app.accounting import Evidence
from flopwitness.app.ledgering_writer import LedgerWriter
from flopwitness.app.verdicts import Answer, Counting, Question
from flopwitness.core.account import Account, Amount, SessionEvidence
from flopwitness.core.verdict import Claim, Threshold
from flopwitness.estimate.calibration import Calibration
from flopwitness.storage.keys import FileSigner
from flopwitness.verify.ledger.canonical import canonical
from flopwitness.verify.ledger.checkpoints import Checkpoint
from flopwitness.verify.ledger.entries import EntryKind
from flopwitness.verify.ledger.evidence import verdict_body

UNKNOWN = "unknown"
"""In place of the digest of a calibration that nobody named."""


class Written(NamedTuple):
    """Verdicts that are on disk.

    Attributes
    ----------
    path : Path
        The ledger.
    sequences : range
        Places of their entries.
    checkpoint : Checkpoint
        Over them.
    """

    path: Path
    sequences: range
    checkpoint: Checkpoint


def write_verdicts(path: Path, signer: FileSigner, bodies: Iterable[Mapping[str, Any]]) -> Written:
    """Append verdicts to a ledger as one group; when this returns they are on disk and signed.

    Raises
    ------
    BadInputError
        When the ledger is damaged, of another key, held by another writer, or the disk will not take them.
    InvalidNounError
        When a body has no canonical JSON; nothing was written.
    """
    with LedgerWriter.open(path, signer) as writer:
        dropped = {"n_dropped_bytes": writer.n_dropped_bytes}
        drafts = [(EntryKind.VERDICT, {**body, **dropped}) for body in bodies]
        checkpoint = writer.commit(drafts)
    return Written(path, range(checkpoint.size - len(drafts), checkpoint.size), checkpoint)


def verdict_bodies(evidence: Evidence, question: Question, answer: Answer) -> tuple[dict[str, Any], ...]:
    """Return the body of an entry for each verdict, the claim's first.

    The ``subject`` of each says what was asked and how, the account and what the answer rests on: digests of
    the sources and of the calibrations, and for a ledger its name and root as it was read.
    """
    countings = {one.convention.name: one for one in answer.countings}
    shared = {
        "scope": _scope_payload(evidence),
        "settings": _settings_payload(question),
        "sources": [_source_payload(evidence, name, digest) for name, digest in evidence.digests.items()],
        "version": version("flopwitness"),
    }
    judged: list[tuple[dict[str, Any], str, Any]] = []
    if question.claim is not None and answer.claim is not None:
        judged.append((_claim_payload(question.claim), question.claim.convention, answer.claim))
    judged += [(_rule_payload(rule), rule.convention, verdict) for rule, verdict in answer.thresholds]
    return tuple(
        verdict_body(
            verdict, subject={**shared, **asked, **_counted(evidence, answer, countings[convention])}
        )
        for asked, convention, verdict in judged
    )


def calibration_digest(calibration: Calibration) -> str:
    """Return the SHA-256 of a calibration's canonical JSON, as ``watch`` writes it."""
    return sha256(canonical(calibration.to_payload())).hexdigest()


def _counted(evidence: Evidence, answer: Answer, counting: Counting) -> dict[str, Any]:
    """Return the account that a convention starts from, and what it counts."""
    account = answer.accounts[counting.convention.target]
    return {
        "account": _account_payload(account),
        "counted": _amount_payload(counting.weighed.total),
        "calibration_sha256": _calibrations(evidence, account.sessions),
    }


def _calibrations(evidence: Evidence, sessions: Iterable[SessionEvidence]) -> dict[str, int]:
    """Return how many sessions were estimated with each calibration, by its digest."""
    by_session = {digest: name for one in evidence.ledgers for digest, name in one.calibrations.items()}
    by_source = {source: calibration_digest(one) for source, one in evidence.calibrations.items()}
    found = (by_source.get(one.source) or by_session.get(one.digest) or UNKNOWN for one in sessions)
    return dict(Counter(found))


def _scope_payload(evidence: Evidence) -> dict[str, Any]:
    scope = evidence.scope
    return {
        "name": scope.name,
        "devices": list(scope.devices),
        "start_ns": str(scope.start_ns),
        "stop_ns": str(scope.stop_ns),
    }


def _settings_payload(question: Question) -> dict[str, Any]:
    return {
        "declared": {name: float(value) for name, value in question.declared.items()},
        "trusts_declared": question.trusts_declared,
        "is_good_faith": question.is_good_faith,
        "confidence_ratio": float(question.confidence_ratio),
    }


def _source_payload(evidence: Evidence, name: str, digest: str) -> dict[str, Any]:
    """Return a source; of a ledger also where it ended when it was read: it may grow, by this very entry."""
    ends = {str(one.path): one.last for one in evidence.ledgers}
    end = ends.get(name)
    read = None if end is None else {"ledger": end.ledger, "size": end.size, "root": end.root}
    return {"path": name, "sha256": digest or None, "read": read}


def _claim_payload(claim: Claim) -> dict[str, Any]:
    return {
        "claim": {
            "declarant": claim.declarant,
            "flop": float(claim.flop),
            "convention": claim.convention,
            "margin_ratio": float(claim.margin_ratio),
        }
    }


def _rule_payload(rule: Threshold) -> dict[str, Any]:
    return {
        "rule": {
            "name": rule.name,
            "flop": float(rule.flop),
            "is_strict": rule.is_strict,
            "convention": rule.convention,
            "citation": rule.citation,
            "text_date": None if rule.text_date is None else rule.text_date.isoformat(),
        }
    }


def _account_payload(account: Account) -> dict[str, Any]:
    return {
        "target": account.target.value,
        "method": account.method,
        "coverage_ratio": float(account.coverage_ratio),
        "n_sessions": len(account.sessions),
        "observed": _amount_payload(account.observed),
        "unobserved_device_seconds": float(account.unobserved_device_seconds),
        "total": _amount_payload(account.total),
    }


def _amount_payload(amount: Amount) -> dict[str, float | None]:
    """Return an amount; an infinite bound is null."""
    ends = {name: float(getattr(amount, name)) for name in Amount.__slots__}
    return {name: end if end < float("inf") else None for name, end in ends.items()}
