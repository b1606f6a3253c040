"""The ledgers of ``flopwitness verify``: those it reads, and the one that its verdicts are kept in.

What needs ``cryptography`` or ``rfc8785`` is imported where a ledger is at hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flopwitness.app.accounting import Evidence
from flopwitness.app.cli.output import data, talk
from flopwitness.app.verdicts import Answer, Question
from flopwitness.core.errors import BadInputError

if TYPE_CHECKING:
    from flopwitness.app.ledgering_scope import Pins
    from flopwitness.app.ledgering_verdicts import Written
    from flopwitness.app.report.scope_content import LedgerContent
    from flopwitness.storage.keys import FileSigner
    from flopwitness.verify.ledger.proofs import LedgerProof

PublicKeys = Annotated[
    list[Path] | None,
    typer.Option("--public-key", help="Public key that a ledger should have, from elsewhere; repeatable."),
]

Keeper = tuple[Path, "FileSigner"]
"""A ledger to write to, and who signs."""


@dataclass(frozen=True, slots=True)
class LedgerSide:
    """What ledgers have to do with an answer.

    Attributes
    ----------
    held : tuple of LedgerContent
        Those that it rests on.
    written : Written or None
        Its verdicts as entries; None where nobody asked for that.
    """

    held: "tuple[LedgerContent, ...]" = ()
    written: "Written | None" = None

    def to_payload(self) -> dict[str, object]:
        """Return it as JSON values."""
        return {
            "ledgers": [_held_object(one) for one in self.held],
            "written": None if self.written is None else _written_object(self.written),
        }


def pins_of(checkpoints: Sequence[Path] | None, keys: Sequence[Path] | None) -> "Pins | None":
    """Read what came another way; None where nothing did."""
    if not checkpoints and not keys:
        return None
    from flopwitness.app.ledgering_scope import read_pins  # noqa: PLC0415  needs cryptography

    return read_pins(checkpoints or (), keys or ())


def verdict_keeper(pair: tuple[Path, Path] | None, question: Question) -> Keeper | None:
    """Return where verdicts are to be kept; checked before the work, as far as that can be.

    Raises
    ------
    BadInputError
        When there will be no verdict, or the key cannot be used.
    """
    if pair is None:
        return None
    from flopwitness.storage.keys import read_signer  # noqa: PLC0415  needs cryptography

    ledger, key = pair
    if question.claim is None and not question.thresholds:
        raise BadInputError("verify", "", expected="a claim or a --rule with --ledger", got="neither")
    return ledger, read_signer(key)


def ledger_side(evidence: Evidence, question: Question, answer: Answer, keeper: Keeper | None) -> LedgerSide:
    """Prove the sessions that came from ledgers, then write the verdicts where they are to be kept.

    When this returns they are on disk: an answer that could not be kept is not told.
    """
    if not evidence.ledgers and keeper is None:
        return LedgerSide()
    from flopwitness.app.ledgering_scope import ledger_content  # noqa: PLC0415  needs cryptography
    from flopwitness.app.ledgering_verdicts import verdict_bodies, write_verdicts  # noqa: PLC0415

    held = tuple(ledger_content(one, answer.first.sessions) for one in evidence.ledgers)
    if keeper is None:
        return LedgerSide(held)
    return LedgerSide(held, write_verdicts(*keeper, verdict_bodies(evidence, question, answer)))


def print_held(side: LedgerSide) -> None:
    """Print how the ledgers were checked, against what, and what is missing for more."""
    if not side.held:
        return
    from flopwitness.app.report.scope_ledger import ledger_facts  # noqa: PLC0415  needs rfc8785

    for one in side.held:
        lines = "\n".join(f"  {name}: {text}" for name, text in ledger_facts(one)[1:])
        data().print(f"\nLedger {one.name}\n{lines}", markup=False, soft_wrap=True)


def say_written(side: LedgerSide) -> None:
    """Say where the verdicts stand."""
    if side.written is not None:
        first, last = side.written.sequences[0], side.written.sequences[-1]
        places = f"entry {first}" if first == last else f"entries {first} to {last}"
        said = f"written: {places} of {side.written.path}, signed by the checkpoint after"
        talk().print(said, markup=False, soft_wrap=True)


def _held_object(one: "LedgerContent") -> dict[str, Any]:
    from flopwitness.app.report.scope_ledger import missing  # noqa: PLC0415  needs rfc8785

    return {
        "source": one.name,
        "checkpoint": one.last.to_payload(),
        "keys": [{"source": name, "fingerprint": key} for name, key in one.keys],
        "checkpoints": [
            {"source": name, "checkpoint": checkpoint.to_payload()} for name, checkpoint in one.checkpoints
        ],
        "n_sessions": one.n_sessions,
        "proofs": [_proof_object(one, proof) for proof in one.proofs],
        "missing": list(missing(one)),
    }


def _proof_object(one: "LedgerContent", proof: "LedgerProof") -> dict[str, Any]:
    return {
        "is_verified": one.verifies(proof),
        "holds": proof.is_verified,
        "vouchers": list(one.vouchers(proof.index)),
        "entry": proof.index,
        "hash": proof.entry_hash,
        "session_id": proof.entry.body.get("session_id"),
        "path": list(proof.path),
    }


def _written_object(written: "Written") -> dict[str, Any]:
    return {
        "ledger": str(written.path),
        "entries": list(written.sequences),
        "checkpoint": written.checkpoint.to_payload(),
    }
