"""``flopwitness verify``: what a scope took in all, and what that says of a claim or a rule."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flopwitness.app.accounting import WHOLE, Evidence, evidence_of_sources
from flopwitness.app.cli.options import (
    AsJson,
    CalibrationPath,
    Checkpoints,
    Chip,
    Force,
    LedgerKey,
    LedgerPath,
    both_or_neither,
)
from flopwitness.app.cli.output import print_faults, talk
from flopwitness.app.cli.verdictlines import print_answer, print_answer_json
from flopwitness.app.cli.verify_ledger import (
    LedgerSide,
    PublicKeys,
    ledger_side,
    pins_of,
    print_held,
    say_written,
    verdict_keeper,
)
from flopwitness.app.opening import DEFAULT_CHIP
from flopwitness.app.rulebook import open_rulebook
from flopwitness.app.verdicts import Answer, Question, answered
from flopwitness.core.errors import BadInputError
from flopwitness.core.verdict import Claim, Threshold
from flopwitness.storage.atomic import refuse_taken, write_atomically
from flopwitness.storage.claims import ScopeFile, read_scope
from flopwitness.verify.policies.claim import CONFIDENCE_RATIO

if TYPE_CHECKING:
    from flopwitness.app.ledgering_scope import Pins

DECLARANT = "the command line"

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="SOURCE...",
        readable=False,
        help="Recordings, dataset folders and ledgers, of any number of nodes.",
        show_default=False,
    ),
]
ScopePath = Annotated[
    Path | None,
    typer.Option(
        "--scope",
        readable=False,
        help="TOML file with devices, period, and perhaps a claim; all that was recorded where not given.",
    ),
]
ClaimedFlop = Annotated[
    float | None,
    typer.Option(
        "--claim", help="FLOP that the scope is said to have taken, such as 3.1e22; before its file's."
    ),
]
ConventionName = Annotated[
    str, typer.Option("--convention", help="How the claim is counted; see 'flopwitness rules --conventions'.")
]
Margin = Annotated[
    float, typer.Option("--margin", help="Error that the claim may have, such as 0.3 for the EU's 30 %.")
]
RuleNames = Annotated[
    list[str] | None,
    typer.Option("--rule", help="Threshold to weigh against, by name; may be given again."),
]
OwnRules = Annotated[
    list[Path] | None,
    typer.Option("--rules", readable=False, help="A TOML file of your own thresholds; may be given again."),
]
Confidence = Annotated[
    float,
    typer.Option("--confidence", help="One minus the share of honest claims that may be called false."),
]
Declared = Annotated[
    list[str] | None,
    typer.Option("--declare", metavar="NAME=VALUE", help="Declared, not measured; may be given again."),
]
TrustsDeclared = Annotated[
    bool,
    typer.Option("--trust-declared", help="Believe what is declared; else answers hold with and without it."),
]
GoodFaith = Annotated[
    bool,
    typer.Option(
        "--good-faith", help="Leave out the bound for workloads made to be under-counted: for one's own."
    ),
]
Method = Annotated[
    str, typer.Option("--method", help="Estimator to ask; the best that answered for every session.")
]
Html = Annotated[Path | None, typer.Option("--html", help="Write the report of the scope to this file too.")]


def run(
    sources: Sources,
    scope: ScopePath = None,
    claim: ClaimedFlop = None,
    convention: ConventionName = "executed",
    margin: Margin = 0.0,
    rule: RuleNames = None,
    rules: OwnRules = None,
    declare: Declared = None,
    trust_declared: TrustsDeclared = False,
    good_faith: GoodFaith = False,
    confidence: Confidence = CONFIDENCE_RATIO,
    method: Method = "",
    calibration: CalibrationPath = None,
    chip: Chip = DEFAULT_CHIP,
    checkpoint: Checkpoints = None,
    public_key: PublicKeys = None,
    ledger: LedgerPath = None,
    ledger_key: LedgerKey = None,
    json: AsJson = False,
    html: Html = None,
    force: Force = False,
) -> int:
    """Add up what a scope took, and weigh a claim and rules against it.

    Exit status: 0 consistent or below, 1 inconsistent or above, 3 inconclusive or undetermined, the gravest
    of several; 2 misuse, a ledger that was altered, or a source that could be used only in part.

    With --ledger and --ledger-key each verdict is signed and kept in a ledger before it is told. That may be
    one of the sources: they are read first.
    """
    _refuse_taken(html, force=force)
    told = read_scope(scope) if scope else None
    asked = _claim(claim, convention, margin) or (told.claim if told else None)
    declared = {**(told.declared if told else {}), **declarations(declare or ())}
    limits = _thresholds(rule or (), rules or ())
    question = Question(asked, limits, declared, trust_declared, good_faith, confidence, method)
    keeper = verdict_keeper(both_or_neither("verify", ledger, ledger_key), question)
    pins = pins_of(checkpoint, public_key)
    evidence = _evidence(sources, told, calibration=calibration, chip=chip, pins=pins)
    answer = answered(evidence, question)
    side = ledger_side(evidence, question, answer, keeper)
    _print(evidence, answer, asked, side=side, as_json=json)
    if html is not None:
        _write_page(html, _page(evidence, answer, asked, side), force=force)
    return print_faults(evidence.faults) or answer.status


def _claim(flop: float | None, convention: str, margin: float) -> Claim | None:
    return None if flop is None else Claim(DECLARANT, flop, convention, margin)


def _refuse_taken(html: Path | None, *, force: bool) -> None:
    """Refuse a name that is taken before the work, not after."""
    if html is not None and not force:
        refuse_taken(html)


def _thresholds(names: Sequence[str], files: Sequence[Path]) -> tuple[Threshold, ...]:
    book = open_rulebook(files)
    return tuple(book.threshold(name) for name in dict.fromkeys(names))


def _print(
    evidence: Evidence, answer: Answer, claim: Claim | None, *, side: LedgerSide, as_json: bool
) -> None:
    if as_json:
        print_answer_json(evidence, answer, claim, more=side.to_payload())
    else:
        print_answer(answer, claim)
        print_held(side)
    say_written(side)


def declarations(words: Sequence[str]) -> dict[str, float]:
    """Return what ``NAME=VALUE`` says.

    Raises
    ------
    BadInputError
        When a word is none of these.
    """
    found: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            raise BadInputError("--declare", "", expected="NAME=VALUE", got=repr(word)) from None
    return found


def _evidence(
    sources: list[Path],
    told: ScopeFile | None,
    *,
    calibration: Path | None,
    chip: str,
    pins: "Pins | None",
) -> Evidence:
    evidence = evidence_of_sources(
        sources,
        told.scope if told else None,
        calibration=calibration,
        chip=chip,
        unseen_chip=told.chip if told else "",
        pins=pins,
    )
    if told is None:
        n_devices = len(evidence.scope.devices)
        talk().print(
            f"no --scope: {WHOLE} is weighed, {n_devices} devices from the first sample to the last",
            markup=False,
            soft_wrap=True,
        )
    return evidence


def _page(evidence: Evidence, answer: Answer, claim: Claim | None, side: LedgerSide) -> str:
    from flopwitness.app.report.scope_page import render_scope  # noqa: PLC0415  needs the research extra
    from flopwitness.app.scope_report import scope_content  # noqa: PLC0415
    from flopwitness.app.svg import inline_svg  # noqa: PLC0415

    return render_scope(scope_content(evidence, answer, claim, ledgers=side.held), draw=inline_svg)


def _write_page(path: Path, page: str, *, force: bool) -> None:
    write_atomically(path, lambda out: out.write(page.encode()), replace=force)
    talk().print(f"wrote {path} ({len(page) / 1e6:.1f} MB)", markup=False)
