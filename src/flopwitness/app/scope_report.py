"""What the report of a scope shows, from its evidence and the answers."""

from collections.abc import Iterable

from flopwitness.app.accounting import Evidence
from flopwitness.app.report.scope_content import (
    Counted,
    LedgerContent,
    ScopeContent,
    WeighedClaim,
    WeighedThreshold,
)
from flopwitness.app.verdicts import Answer
from flopwitness.core.verdict import Claim


def scope_content(
    evidence: Evidence, answer: Answer, claim: Claim | None, *, ledgers: Iterable[LedgerContent] = ()
) -> ScopeContent:
    """Return everything that the page of a scope shows, with what its ledgers prove."""
    return ScopeContent(
        title=f"Compute of {evidence.scope.name}",
        account=answer.first,
        watches=evidence.watches,
        counted=tuple(Counted(one.observed, one.total, one.weighed) for one in answer.countings),
        claims=(WeighedClaim(claim, answer.claim),) if claim is not None and answer.claim is not None else (),
        thresholds=tuple(WeighedThreshold(rule, verdict) for rule, verdict in answer.thresholds),
        layers=answer.layers,
        ledgers=tuple(ledgers),
        findings=evidence.findings,
        evidence=_files(evidence),
        made_with={"estimator": answer.first.method},
    )


def _files(evidence: Evidence) -> dict[str, str]:
    """Return the digests of the sources; a ledger's file may have grown since, by these verdicts too."""
    read = {str(one.path): f" (as read, {one.last.size + 1} entries)" for one in evidence.ledgers}
    return {name + read.get(name, ""): digest for name, digest in evidence.digests.items()}
