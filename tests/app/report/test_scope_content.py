"""What would be shown under a wrong name, or as the answer to another question, cannot be a content."""

from dataclasses import replace

import pytest

from app.report.scope_made import (
    account_of,
    counted_of,
    ledger_of,
    proof_of,
    scope_content_of,
    sessions_of_every_class,
    threshold_of,
    verdict_of,
    watches,
    weighed_of,
)
from flopwitness.app.report.scope_content import Counted, WeighedClaim, WeighedThreshold
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.verdict import Claim, Outcome, Standing


def test_a_claim_cannot_be_below():
    """An answer belongs to its question."""
    with pytest.raises(InvalidNounError, match="a claim cannot be"):
        WeighedClaim(Claim("ACME", 1e22, "eu-cumulative"), verdict_of(Standing.BELOW))


def test_against_a_threshold_nothing_is_consistent():
    """An answer belongs to its question."""
    with pytest.raises(InvalidNounError, match="nothing is"):
        WeighedThreshold(threshold_of(), verdict_of(Outcome.CONSISTENT))


def test_a_convention_stands_once():
    """Two rows of one name would be two totals of one law."""
    content = scope_content_of()

    with pytest.raises(InvalidNounError, match="counted twice"):
        replace(content, counted=content.counted + content.counted[:1])


def test_a_row_counts_in_one_way():
    """Observed by one convention and total by another would be added up on the page."""
    executed, european = counted_of(account_of(sessions_of_every_class()), "executed", "eu-cumulative")

    with pytest.raises(InvalidNounError, match="eu-cumulative and executed"):
        Counted(executed.observed, european.total)


def test_what_verdicts_weighed_is_what_is_shown():
    """A low end that leaves out inference is the one that decided."""
    made = account_of(sessions_of_every_class(), watches())
    (plain,) = counted_of(made, "eu-cumulative")

    counted = replace(plain, weighed=weighed_of(made, "eu-cumulative"))

    assert counted.whole == counted.weighed.total
    assert counted.seen.low_flop == counted.weighed.total.low_flop < plain.seen.low_flop
    assert counted.seen.high_flop < counted.whole.high_flop


def test_findings_name_the_session_they_are_about():
    """Those of the whole come first, without a name."""
    found = [(session, finding.code) for session, finding in scope_content_of().all_findings()]

    assert found == [("", "clock-unchecked"), ("s3", "stalled")]


def test_a_ledger_proves_no_more_than_it_holds():
    """A proof of what is not in the scope would count for nothing."""
    with pytest.raises(InvalidNounError, match="1 proofs of 0 sessions"):
        ledger_of(n_sessions=0)


def test_a_checkpoint_vouches_for_what_it_is_over():
    """The proof is of entry 4: five entries hold it, four do not; a key vouches for all."""
    proof, broken = proof_of(), proof_of(is_verified=False)

    assert ledger_of(is_key_held=False, sizes=[4, 5, 6]).vouchers(4) == ("c5.json", "c6.json")
    assert ledger_of(sizes=[4]).vouchers(4) == ("auditor.pub",)
    assert ledger_of(is_key_held=False, sizes=[5]).verifies(proof)
    assert not ledger_of(is_key_held=False, sizes=[4]).verifies(proof)
    assert not ledger_of().verifies(broken)
