"""``--config``: the options of a command out of one file; nothing is read where there is none."""

import os
from pathlib import Path
from typing import Annotated

import typer

VARIABLE = "FLOPWITNESS_CONFIG"
SYSTEM_CONFIG = Path("/etc/flopwitness/config.toml")


def found_config(named: Path | None, *, system: Path = SYSTEM_CONFIG) -> Path | None:
    """Return the file that is in force: the one named, else that of the environment, else the system's.

    One that was named is returned whether it is there or not: reading it will say so.
    """
    if named is not None:
        return named
    if from_environment := os.environ.get(VARIABLE):
        return Path(from_environment)
    return system if os.path.lexists(system) else None


def _taken(context: typer.Context, named: Path | None) -> Path | None:
    """Make what the file holds the defaults of the options: what the command line says beats them."""
    path = found_config(named)
    if path is not None and context.info_name is not None:
        from flopwitness.app.configuring import settings_of  # noqa: PLC0415  most start without a file

        context.default_map = dict(settings_of(path, context.info_name))
    return path


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        is_eager=True,
        callback=_taken,
        help=f"TOML file with options; ${VARIABLE} or {SYSTEM_CONFIG} where not given.",
    ),
]
"""An option of every command whose options a file can hold."""
