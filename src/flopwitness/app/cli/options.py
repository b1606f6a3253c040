"""Options that several commands share, and the texts that explain them."""

from pathlib import Path
from typing import Annotated

import typer

from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import Target

RecordingPath = Annotated[
    Path,
    typer.Argument(
        metavar="RECORDING",
        readable=False,  # what cannot be read is said by what reads it, in our words
        help="A recording: our Parquet, a recorder's CSV (plain or gzip), or a folder with either.",
        show_default=False,
    ),
]
DatasetPaths = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATASET...",
        readable=False,
        help="Dataset folders, ours or with samples.csv(.gz) and runs.json.",
        show_default=False,
    ),
]
CalibrationPath = Annotated[
    Path | None,
    typer.Option("--calibration", help="Calibration file; the one shipped for the chip where not given."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Chip = Annotated[
    str, typer.Option("--chip", help="Chip of a recording that does not name it, such as a recorder's CSV.")
]
CountedAs = Annotated[
    Target,
    typer.Option(
        "--target",
        help="Which FLOP to count: 'algorithmic' as FlopCounterMode does, attention in full; "
        "'executed' as the hardware did.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the random splits and of the bootstrap.", min=0)]
Splits = Annotated[int, typer.Option("--splits", help="How many random splits.", min=1)]
Speed = Annotated[
    float, typer.Option("--speed", help="Speed of a replay; 0 is as fast as possible.", min=0.0)
]
TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", help="File that holds the token; one is made for this run where not given."),
]
LedgerPath = Annotated[
    Path | None,
    typer.Option("--ledger", help="Signed ledger that is appended to; made where there is none."),
]
LedgerKey = Annotated[
    Path | None,
    typer.Option("--ledger-key", help="Private key of the ledger; 'flopwitness ledger key new' makes one."),
]
Checkpoints = Annotated[
    list[Path] | None,
    typer.Option("--checkpoint", help="Checkpoint that was kept elsewhere; repeatable."),
]


def both_or_neither(command: str, ledger: Path | None, key: Path | None) -> tuple[Path, Path] | None:
    """Return a ledger and its private key; None where neither is given.

    Raises
    ------
    BadInputError
        When only one of the two is.
    """
    if ledger is None and key is None:
        return None
    if ledger is None or key is None:
        named = "--ledger" if key is None else "--ledger-key"
        raise BadInputError(command, "", expected="--ledger and --ledger-key together", got=f"{named} alone")
    return ledger, key
