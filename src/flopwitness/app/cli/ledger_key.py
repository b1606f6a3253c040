"""``flopwitness ledger key``: keys in files, and handing over from one to the next."""

from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.options import AsJson
from flopwitness.app.cli.output import data, print_json
from flopwitness.core.errors import BadInputError

app = typer.Typer(help="Make, show and change the key of a ledger.", no_args_is_help=True)

KeyPath = Annotated[Path, typer.Argument(metavar="KEY", readable=False, show_default=False, help="Key file.")]
KeyOption = Annotated[
    Path, typer.Option("--key", help="Private key that the ledger is kept with.", show_default=False)
]
NewKey = Annotated[
    Path,
    typer.Option("--new-key", help="Private key to hand over to; made where missing.", show_default=False),
]
LedgerArgument = Annotated[
    Path, typer.Argument(metavar="LEDGER", readable=False, show_default=False, help="The ledger.")
]


@app.command()
def new(key: KeyPath, json: AsJson = False) -> None:
    """Make an Ed25519 key: KEY for its owner alone (mode 0600), KEY.pub to be given away."""
    from flopwitness.storage.keys import new_key  # noqa: PLC0415  needs cryptography

    _print_key(new_key(key).public_key, as_json=json)


@app.command()
def show(key: KeyPath, json: AsJson = False) -> None:
    """Show the fingerprint of a key, private or public."""
    _print_key(_public_key(key), as_json=json)


@app.command()
def rotate(ledger: LedgerArgument, key: KeyOption, new_key: NewKey, json: AsJson = False) -> None:
    """Hand a ledger over to a new key: the old one signs an entry that names it.

    No daemon may be at work on it. Keep the old public key: who trusts it can follow to the new one. A stolen
    key is not cured by this: what was signed with it up to now rests on checkpoints that others keep.
    """
    from flopwitness.app.ledgering_writer import LedgerWriter  # noqa: PLC0415  needs cryptography
    from flopwitness.storage.keys import new_key as make_key  # noqa: PLC0415
    from flopwitness.storage.keys import read_signer  # noqa: PLC0415

    if not ledger.exists():
        raise BadInputError(str(ledger), "", expected="a ledger", got="no such file")
    with LedgerWriter.open(ledger, read_signer(key)) as writer:
        successor = read_signer(new_key) if new_key.exists() else make_key(new_key)
        writer.rotate(successor)
    _print_key(successor.public_key, as_json=json)


def _public_key(path: Path) -> str:
    from flopwitness.storage.keys import read_public_key, read_signer  # noqa: PLC0415  needs cryptography

    try:
        return read_public_key(path)
    except BadInputError:
        return read_signer(path).public_key


def _print_key(public_key: str, *, as_json: bool) -> None:
    from flopwitness.verify.ledger.checkpoints import fingerprint  # noqa: PLC0415  needs rfc8785

    name = fingerprint(public_key)
    if as_json:
        print_json({"fingerprint": name, "public_key": public_key})
    else:
        data().print(f"fingerprint {name}\npublic key  {public_key}", markup=False, soft_wrap=True)
