"""``flopwitness ledger``: show, check and prove the signed ledger that ``watch`` keeps.

What needs ``cryptography`` or ``rfc8785`` is imported in the commands: a GPU node's ``--help`` has neither.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from flopwitness.app.cli.ledger_key import LedgerArgument
from flopwitness.app.cli.ledger_key import app as key_app
from flopwitness.app.cli.options import AsJson, Checkpoints, Force
from flopwitness.app.cli.output import print_json, talk
from flopwitness.app.cli.record import say

app = typer.Typer(help="Show, check and prove a signed ledger.", no_args_is_help=True)
app.add_typer(key_app, name="key")

ALTERED = 1
"""Exit status where a ledger or a proof does not hold."""

BAR_FROM_BYTES = 50_000_000
"""A smaller ledger is checked before a bar could be read."""

Kinds = Annotated[list[str] | None, typer.Option("--kind", help="Only entries of this kind; repeatable.")]
Tail = Annotated[int | None, typer.Option("--tail", help="Only the last so many.", min=1)]
PublicKey = Annotated[
    Path | None, typer.Option("--public-key", help="Public key that the ledger should have, from elsewhere.")
]
Thorough = Annotated[
    bool, typer.Option("--thorough", help="Parse every entry and check every signature: much slower.")
]
RecordingOption = Annotated[
    Path | None,
    typer.Option("--recording", help="Recording whose samples should be those that the ledger vouches for."),
]
Sequence = Annotated[int, typer.Argument(metavar="SEQ", help="Number of the entry, from 0.")]
Output = Annotated[Path, typer.Option("--output", help="File to write.", show_default=False)]
MaybeOutput = Annotated[
    Path | None, typer.Option("--output", help="File to write; standard output where not given.")
]
ProofPath = Annotated[Path, typer.Argument(metavar="PROOF", readable=False, show_default=False)]
CheckpointPath = Annotated[Path, typer.Argument(metavar="CHECKPOINT", readable=False, show_default=False)]
WitnessKey = Annotated[
    Path, typer.Option("--key", help="Private key of the second party.", show_default=False)
]
From = Annotated[str | None, typer.Option("--from", help="Entries from this instant on, ISO 8601, UTC.")]
Until = Annotated[str | None, typer.Option("--until", help="Entries before this instant, ISO 8601, UTC.")]
Since = Annotated[
    Path | None,
    typer.Option(
        "--since", help="Earlier checkpoint: a proof that this one grew from it is written beside it."
    ),
]
Growth = Annotated[
    Path | None, typer.Option("--growth", help="Proof that the checkpoint grew from --previous.")
]
Previous = Annotated[
    Path | None, typer.Option("--previous", help="Checkpoint that the second party signed before.")
]


@app.command()
def show(ledger: LedgerArgument, kind: Kinds = None, tail: Tail = None, json: AsJson = False) -> None:
    """List the entries of a ledger, unchecked."""
    from flopwitness.app.cli.ledger_tables import entry_object, print_entries, selected  # noqa: PLC0415

    chosen = selected(ledger, kinds=kind, tail=tail)
    if json:
        for entry in chosen:
            print_json(entry_object(entry))
    else:
        print_entries(ledger.name, chosen)


@app.command()
def verify(
    ledger: LedgerArgument,
    checkpoint: Checkpoints = None,
    public_key: PublicKey = None,
    recording: RecordingOption = None,
    thorough: Thorough = False,
    json: AsJson = False,
) -> int:
    """Check a ledger, and say what that proves and what it does not; 1 where it was altered."""
    from flopwitness.app.cli.ledger_tables import check_object, print_check  # noqa: PLC0415
    from flopwitness.app.ledgering import checked_ledger  # noqa: PLC0415

    trust = _trust(checkpoint, public_key)
    with _bar(ledger) as progress:
        check = checked_ledger(ledger, trust, thorough=thorough, progress=progress)
    match = _match(ledger, recording) if recording and not check.faults else None
    if json:
        print_json(check_object(check, trust, match))
    else:
        print_check(ledger.name, check, trust, match)
    return ALTERED if check.faults or (match and match.altered) else 0


@app.command()
def prove(ledger: LedgerArgument, sequence: Sequence, output: Output, force: Force = False) -> None:
    """Write a proof that shows one entry, and that it is in the ledger, without the others."""
    from flopwitness.app.ledgering import prove_entry, write_payload  # noqa: PLC0415

    proof = prove_entry(ledger, sequence)
    write_payload(output, proof, force=force)
    say(f"entry {proof.index} is under the checkpoint over {proof.size}: {output}")


@app.command(name="check-proof")
def check_proof(proof: ProofPath, public_key: PublicKey = None, json: AsJson = False) -> int:
    """Check a proof without the ledger, and show its entry; 1 where it does not hold."""
    from flopwitness.app.cli.ledger_tables import print_proof, proof_object  # noqa: PLC0415
    from flopwitness.app.ledgering import read_proof  # noqa: PLC0415
    from flopwitness.storage.keys import read_public_key, verify_signature  # noqa: PLC0415

    found = read_proof(proof).checked(verify_signature)
    pinned = read_public_key(public_key) if public_key else None
    is_pinned = pinned in {None, found.checkpoint.public_key}
    if json:
        print_json(proof_object(found, is_key=None if pinned is None else is_pinned))
    else:
        print_proof(found, is_key=None if pinned is None else is_pinned)
    return 0 if found.is_verified and is_pinned else ALTERED


@app.command()
def export(
    ledger: LedgerArgument,
    output: MaybeOutput = None,
    from_: From = None,
    until: Until = None,
    kind: Kinds = None,
    force: Force = False,
) -> None:
    """Check a ledger, then write its entries as JSON lines, each with its hash; of a period where given."""
    from flopwitness.app.cli.ledger_tables import exported_lines, period  # noqa: PLC0415
    from flopwitness.app.ledgering import require_sound  # noqa: PLC0415
    from flopwitness.storage.atomic import write_atomically  # noqa: PLC0415

    require_sound(ledger)
    lines = exported_lines(ledger, period(from_, until), kinds=kind)
    if output is None:
        sys.stdout.writelines(line.decode() for line in lines)
    else:
        write_atomically(output, lambda out: out.writelines(lines), replace=force)


@app.command()
def checkpoint(ledger: LedgerArgument, output: Output, since: Since = None, force: Force = False) -> None:
    """Write the ledger's last checkpoint to a file, to be kept and countersigned by somebody else."""
    from flopwitness.app import ledgering  # noqa: PLC0415

    last = ledgering.last_checkpoint(ledger)
    if since is not None:
        growth = ledgering.prove_growth(ledger, ledgering.read_checkpoint(since))
        ledgering.write_payload(output.with_name(f"{output.name}.growth"), growth, force=force)
    ledgering.write_payload(output, last, force=force)
    say(f"checkpoint over {last.size} entries, root {last.root}: {output}")


@app.command()
def countersign(
    checkpoint: CheckpointPath, key: WitnessKey, previous: Previous = None, growth: Growth = None
) -> int:
    """Add a second party's signature to a checkpoint file; 1 where it did not grow from the previous one."""
    from flopwitness.app.ledgering_witness import countersigned_file  # noqa: PLC0415

    fault = countersigned_file(checkpoint, key, previous=previous, growth=growth)
    if fault:
        say(f"not signed: {fault}")
        return ALTERED
    say(f"countersigned {checkpoint}")
    return 0


def _trust(checkpoints: list[Path] | None, public_key: Path | None) -> Any:
    from flopwitness.app.ledgering import Trust, read_checkpoint  # noqa: PLC0415
    from flopwitness.storage.keys import read_public_key  # noqa: PLC0415

    held = tuple((str(path), read_checkpoint(path)) for path in checkpoints or ())
    return Trust(read_public_key(public_key) if public_key else "", held)


def _match(ledger: Path, recording: Path) -> Any:
    from flopwitness.app.ledgering import read_entries  # noqa: PLC0415
    from flopwitness.app.ledgering_samples import matched_samples  # noqa: PLC0415
    from flopwitness.app.opening import open_recording  # noqa: PLC0415

    return matched_samples(read_entries(ledger), open_recording(recording))


@contextmanager
def _bar(ledger: Path) -> Iterator[Any]:
    """Show a bar while a large ledger is checked."""
    total = ledger.stat().st_size if ledger.is_file() else 0
    if total < BAR_FROM_BYTES or not talk().is_terminal:
        yield lambda _: None
        return
    with Progress(console=talk(), transient=True) as progress:
        task = progress.add_task("checking", total=total)
        yield lambda done: progress.update(task, completed=done)
