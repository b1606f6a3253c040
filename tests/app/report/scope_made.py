"""Small contents of a report on a scope whose every number is known, with something in every section."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from flopwitness.app.report.scope_content import (
    Counted,
    LedgerContent,
    ScopeContent,
    WeighedClaim,
    WeighedThreshold,
)
from flopwitness.core.account import Account, DeviceWatch, Scope, SessionEvidence
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.verdict import Claim, Outcome, Standing, Threshold, Verdict
from flopwitness.core.workclass import KNOWN_CLASSES, ClassOpinion, WorkClass
from flopwitness.core.workload import Target
from flopwitness.verify.accounts import account
from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.converting import convert
from flopwitness.verify.layers import EvidenceLayer, LayerAnswer
from flopwitness.verify.ledger.checkpoints import Checkpoint
from flopwitness.verify.ledger.entries import Entry, EntryKind
from flopwitness.verify.ledger.proofs import LedgerProof
from flopwitness.verify.policies.weighing import Reading, Weighed, weighed

START_NS = 1_795_999_032_000_000_000
"""2026-11-30 00:37:12 UTC."""

SECOND_NS = 1_000_000_000
HOUR_NS = 3600 * SECOND_NS
DEVICES = ("GPU-a", "GPU-b")
CEILING_FLOP_PER_SECOND = 1e15
DECLARED = {"evaluation_ratio": 0.07}


def opinion_of(answer: WorkClass, probability: float = 0.9) -> ClassOpinion:
    """Return an opinion; what is left is shared by the other classes."""
    others = [one for one in KNOWN_CLASSES if one is not answer]
    probabilities = {one: (1 - probability) / len(others) for one in others} | {answer: probability}
    known = {} if answer is WorkClass.UNKNOWN else probabilities
    return ClassOpinion(answer, known, ("the rhythm of its steps",), 12)


def session_of(
    name: str,
    hours: tuple[float, float],
    *,
    flop: float | None = 1e18,
    opinion: ClassOpinion | None = None,
    devices: Sequence[str] = DEVICES,
    findings: tuple[Finding, ...] = (),
    energy_joules: float = 3.6e6,
    most_factor: float = 1.6,
) -> SessionEvidence:
    """Return a session between two hours of the scope, with bounds of 10 % on either side."""
    estimates = (
        {} if flop is None else {target: {"fused": _estimate(flop, target, most_factor)} for target in Target}
    )
    start, stop = (START_NS + round(hour * HOUR_NS) for hour in hours)
    return SessionEvidence(
        name,
        start,
        stop,
        tuple(devices),
        estimates,
        findings,
        opinion,
        energy_joules,
        source="node-a.parquet",
        digest="ab" * 32,
    )


def _estimate(flop: float, target: Target, most_factor: float) -> Estimate:
    return Estimate(
        flop, 0.9 * flop, 1.1 * flop, 0.9, "fused", target, ("power_watts",), most_flop=most_factor * flop
    )


def sessions_of_every_class(flop: float = 1e18) -> tuple[SessionEvidence, ...]:
    """Return one session of each class, one that nobody asked about, and one without an estimate."""
    alarm = Finding("stalled", "GPU-a was busy and did nothing", Severity.ALARM, "GPU-a", START_NS)
    return (
        session_of("s1", (0.5, 2), flop=flop, opinion=opinion_of(WorkClass.TRAINING, 0.98)),
        session_of(
            "s2", (2.2, 3), flop=0.2 * flop, opinion=opinion_of(WorkClass.INFERENCE), devices=["GPU-a"]
        ),
        session_of("s3", (3.1, 4), flop=0.1 * flop, opinion=opinion_of(WorkClass.OTHER), findings=(alarm,)),
        session_of(
            "s4", (4.5, 6), flop=0.4 * flop, opinion=opinion_of(WorkClass.UNKNOWN), energy_joules=float("nan")
        ),
        session_of("s5", (6.2, 7), flop=0.2 * flop),
        session_of("s6", (7.2, 7.6), flop=None, devices=["GPU-b"]),
    )


def watches(ceiling_flop_per_second: float = CEILING_FLOP_PER_SECOND) -> tuple[DeviceWatch, ...]:
    """Return two devices; the second was not watched for two hours of ten, nor either after the eighth."""
    stretches = {"GPU-a": ((0, 8),), "GPU-b": ((0, 2), (4, 8))}
    return tuple(
        DeviceWatch(
            device,
            "NVIDIA H200",
            tuple((START_NS + start * HOUR_NS, START_NS + stop * HOUR_NS) for start, stop in spans),
            ceiling_flop_per_second,
            1e15,
        )
        for device, spans in stretches.items()
    )


def account_of(
    sessions: Sequence[SessionEvidence],
    watched: Sequence[DeviceWatch] = (),
    *,
    name: str = "project-x",
    devices: Sequence[str] = DEVICES,
) -> Account:
    """Return the account of ten hours."""
    scope = Scope(name, tuple(devices), START_NS, START_NS + 10 * HOUR_NS)
    made = account(scope, sessions, watched, target=Target.EXECUTED, method="fused")
    fields = {name: getattr(made, name) for name in made.__dataclass_fields__}
    return Account(**(fields | {"declared": DECLARED}))


def counted_of(made: Account, *names: str) -> tuple[Counted, ...]:
    """Return an account by some conventions."""
    return tuple(
        Counted(
            convert(made.observed, CONVENTIONS[name], declared=DECLARED),
            convert(made.total, CONVENTIONS[name], declared=DECLARED),
        )
        for name in names
    )


def weighed_of(made: Account, name: str) -> Weighed:
    """Return an account as verdicts weigh it by a convention."""
    return weighed(made, Reading(CONVENTIONS[name], DECLARED))


def threshold_of(
    name: str = "eu-systemic-risk",
    flop: float = 1e25,
    *,
    title: str = "EU AI Act, systemic risk",
    status: str = "in force",
    convention: str = "eu-cumulative",
    is_verified: bool = True,
    url: str = "https://example.org/51",
) -> Threshold:
    """Return a threshold."""
    return Threshold(
        name,
        title,
        "European Union",
        flop,
        is_strict=True,
        convention=convention,
        measured="cumulative compute used for training",
        conditions=("high-impact capability is presumed",),
        status=status,
        citation="Regulation (EU) 2024/1689, Art. 51(2)",
        url=url,
        text_date=date(2024, 6, 13) if is_verified else None,
        is_verified=is_verified,
    )


def verdict_of(answer: Outcome | Standing, chance: tuple[float, float] | None = (0.2, 0.7)) -> Verdict:
    """Return a verdict with a reason and what would settle it."""
    return Verdict(
        answer,
        ("the bounds reach from one side of the figure to the other",),
        "eu-cumulative",
        chance,
        ("telemetry of the hours that nobody watched",),
        ("cd" * 32,),
    )


def proof_of(*, is_verified: bool = True) -> LedgerProof:
    """Return a proof; its hashes are not checked here."""
    entry = Entry(4, START_NS, EntryKind.VERDICT, {"scope": "project-x"}, "0" * 64, "0" * 32)
    checkpoint = Checkpoint(
        "1" * 64, 8, "2" * 64, "3" * 64, START_NS + HOUR_NS, "4" * 32, "5" * 64, "6" * 128
    )
    return LedgerProof(entry.line(), ("7" * 64, "8" * 64, "9" * 64), checkpoint, is_verified)


def ledger_of(
    *proofs: LedgerProof, n_sessions: int = 6, is_key_held: bool = True, sizes: Sequence[int] = ()
) -> LedgerContent:
    """Return a ledger with proofs, one where none is given; checkpoints of some sizes came another way."""
    shown = proofs or (proof_of(),)
    last = shown[0].checkpoint
    return LedgerContent(
        "node-a.ledger",
        last,
        n_sessions,
        shown,
        (("auditor.pub", "a1" * 32),) if is_key_held else (),
        tuple((f"c{size}.json", replace(last, size=size)) for size in sizes),
    )


def scope_content_of(flop: float = 1e18, *, name: str = "project-x", title: str = "A scope") -> ScopeContent:
    """Return a content with something in every section; the claim is half of what was measured."""
    watched = watches(CEILING_FLOP_PER_SECOND * flop / 1e19)
    made = account_of(sessions_of_every_class(flop), watched, name=name)
    claim = Claim(f"{name} ACME", flop, "eu-cumulative", 0.3)
    return ScopeContent(
        title,
        made,
        watched,
        counted_of(made, "executed", "eu-cumulative", "us-operations"),
        (WeighedClaim(claim, verdict_of(Outcome.INCONSISTENT, (0.96, 1.0))),),
        weighed_thresholds(),
        layers_of(name),
        (ledger_of(),),
        (Finding("clock-unchecked", "the host's clock was not compared", Severity.NOTE),),
        {"node-a.parquet": "ef" * 32},
        {
            "flopwitness": "0.5.0",
            "calibration": "h200-sxm, " + "12" * 32,
            "command": f"flopwitness verify {name}",
        },
    )


def weighed_thresholds() -> tuple[WeighedThreshold, ...]:
    """Return one that is in force and open, and a proposal that nobody read, with an address that is none."""
    treaty = threshold_of(
        "treaty-monitored",
        1e22,
        title="Draft treaty, monitored",
        status="proposal",
        convention="treaty-training",
        is_verified=False,
        url="javascript:alert(1)",
    )
    return (
        WeighedThreshold(threshold_of(), verdict_of(Standing.UNDETERMINED)),
        WeighedThreshold(treaty, verdict_of(Standing.BELOW, (0.0, 0.0))),
    )


def layers_of(name: str) -> tuple[EvidenceLayer, ...]:
    """Return a kind of evidence for each answer."""
    return (
        EvidenceLayer("energy", LayerAnswer.CONTRADICTS, f"{name} took more energy than its claim allows"),
        EvidenceLayer("activity", LayerAnswer.SUPPORTS, "busy for 6 of 10 hours", ("60 %",)),
        EvidenceLayer("tamper findings", LayerAnswer.SILENT, "no check had enough data"),
    )
