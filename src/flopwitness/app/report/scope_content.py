"""What the report of a scope is made of: an account, what was decided, and what that rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from flopwitness.core.account import Account, Amount, DeviceWatch
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.finding import Finding
from flopwitness.core.verdict import Claim, Outcome, Standing, Threshold, Verdict
from flopwitness.verify.converting import Convention, Converted
from flopwitness.verify.layers import EvidenceLayer
from flopwitness.verify.ledger.checkpoints import Checkpoint
from flopwitness.verify.ledger.proofs import LedgerProof
from flopwitness.verify.policies.weighing import Weighed


@dataclass(frozen=True, slots=True)
class WeighedClaim:
    """A claim and what the evidence says of it.

    Raises
    ------
    InvalidNounError
        When the answer is not one that a claim can get.
    """

    claim: Claim
    verdict: Verdict

    def __post_init__(self) -> None:
        """Refuse the answer to another question."""
        if not isinstance(self.verdict.answer, Outcome):
            raise InvalidNounError(f"a claim cannot be {self.verdict.answer!r}")


@dataclass(frozen=True, slots=True)
class WeighedThreshold:
    """A threshold and where the scope stands against it.

    Raises
    ------
    InvalidNounError
        When the answer is not one that a threshold can get.
    """

    threshold: Threshold
    verdict: Verdict

    def __post_init__(self) -> None:
        """Refuse the answer to another question."""
        if not isinstance(self.verdict.answer, Standing):
            raise InvalidNounError(f"against a threshold, nothing is {self.verdict.answer!r}")


@dataclass(frozen=True, slots=True)
class Counted:
    """What a scope took, counted by one convention.

    Attributes
    ----------
    observed : Converted
        What was seen inside sessions.
    total : Converted
        With what was seen outside sessions and what nobody saw.
    weighed : Weighed or None
        The account as verdicts weigh it by this convention: what may not count is left out at the low end,
        and declarations are believed and not believed. The figure shows this where it is given.

    Raises
    ------
    InvalidNounError
        When the two are of different conventions.
    """

    observed: Converted
    total: Converted
    weighed: Weighed | None = None

    def __post_init__(self) -> None:
        """Refuse two ways of counting under one name."""
        names = {self.observed.convention.name, self.total.convention.name}
        if self.weighed is not None:
            names.add(self.weighed.reading.convention.name)
        if len(names) > 1:
            raise InvalidNounError(f"one row cannot count by {' and '.join(sorted(names))}")

    @property
    def convention(self) -> Convention:
        """How it was counted."""
        return self.observed.convention

    @property
    def seen(self) -> Amount:
        """What was observed, as verdicts weigh it where they did."""
        if self.weighed is None:
            return self.observed.amount
        total, most = self.weighed.total, self.weighed.seen
        return Amount(total.low_flop, total.point_flop, most.high_flop, most.most_flop)

    @property
    def whole(self) -> Amount:
        """The same with what nobody saw."""
        return self.total.amount if self.weighed is None else self.weighed.total


@dataclass(frozen=True, slots=True)
class LedgerContent:
    """A ledger that was checked from end to end, and set against what came another way.

    Attributes
    ----------
    name : str
        Its file.
    last : Checkpoint
        Its newest, over all entries that were read.
    n_sessions : int
        Sessions of the scope that it holds.
    proofs : tuple of LedgerProof
        That these, or some of them, are under ``last``.
    keys : tuple of tuple of str
        File and fingerprint of each public key from elsewhere that is the ledger's.
    checkpoints : tuple of tuple of str and Checkpoint
        File and content of each checkpoint from elsewhere that the ledger grew from.

    Raises
    ------
    InvalidNounError
        When there are more proofs than sessions.
    """

    name: str
    last: Checkpoint
    n_sessions: int
    proofs: tuple[LedgerProof, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    checkpoints: tuple[tuple[str, Checkpoint], ...] = ()

    def __post_init__(self) -> None:
        """Refuse proofs of what is not in the scope."""
        if len(self.proofs) > self.n_sessions:
            raise InvalidNounError(f"{len(self.proofs)} proofs of {self.n_sessions} sessions")

    @property
    def n_covered(self) -> int:
        """How many entries, from the first on, a checkpoint from elsewhere is over."""
        return max((checkpoint.size for _, checkpoint in self.checkpoints), default=0)

    def vouchers(self, index: int) -> tuple[str, ...]:
        """Return the files from elsewhere that vouch for the entry at a place."""
        over = tuple(name for name, checkpoint in self.checkpoints if index < checkpoint.size)
        return (*(name for name, _ in self.keys), *over)

    def verifies(self, proof: LedgerProof) -> bool:
        """Say whether a proof holds and something from elsewhere vouches for its entry."""
        return proof.is_verified and bool(self.vouchers(proof.index))


@dataclass(frozen=True, slots=True)
class ScopeContent:
    """Everything that the report of a scope shows.

    Attributes
    ----------
    title : str
        Heading of the page.
    account : Account
        What the scope took, with its sessions and findings.
    watches : tuple of DeviceWatch
        When each device was watched, also several of one; a device without any was never watched.
    counted : tuple of Counted
        The account by each convention; no name twice.
    claims, thresholds : tuple of WeighedClaim, of WeighedThreshold
        What was asked and what was answered; either may be empty.
    layers : tuple of EvidenceLayer
        What each kind of evidence says by itself.
    ledgers : tuple of LedgerContent
        What proves that sessions were not altered; empty where no ledger was given.
    findings : tuple of Finding
        Of the scope as a whole; those of sessions stand in the account.
    evidence : mapping of str to str
        Name of each file that was read and its SHA-256.
    made_with : mapping of str to str
        Versions, calibration and command, by name.

    Raises
    ------
    InvalidNounError
        When a convention occurs twice.
    """

    title: str
    account: Account
    watches: tuple[DeviceWatch, ...] = ()
    counted: tuple[Counted, ...] = ()
    claims: tuple[WeighedClaim, ...] = ()
    thresholds: tuple[WeighedThreshold, ...] = ()
    layers: tuple[EvidenceLayer, ...] = ()
    ledgers: tuple[LedgerContent, ...] = ()
    findings: tuple[Finding, ...] = ()
    evidence: Mapping[str, str] = field(default_factory=dict)
    made_with: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what would be shown twice under one name."""
        names = [one.convention.name for one in self.counted]
        if len(set(names)) < len(names):
            raise InvalidNounError(f"a convention is counted twice: {sorted(names)}")

    def counted_by(self, convention: str) -> Counted | None:
        """Return the account by a convention; None where nobody converted it."""
        return next((one for one in self.counted if one.convention.name == convention), None)

    def all_findings(self) -> tuple[tuple[str, Finding], ...]:
        """Return every finding with the name of the session that it is about; empty for the whole."""
        own = tuple(("", finding) for finding in self.findings)
        return own + tuple(
            (session.session_id, finding) for session in self.account.sessions for finding in session.findings
        )
