"""``flopwitness config``: every option, its value in force, and where that came from."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.config_option import SYSTEM_CONFIG, VARIABLE, found_config
from flopwitness.app.cli.options import AsJson
from flopwitness.app.cli.output import print_json, print_table
from flopwitness.app.configuring import DEFAULT, InForce, example_config, in_force, read_config
from flopwitness.app.configuring_table import Value

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help=f"File to show; ${VARIABLE} or {SYSTEM_CONFIG} where not given."
    ),
]
Example = Annotated[bool, typer.Option("--example", help="Print a file that explains every option.")]
Checked = Annotated[
    Path | None, typer.Option("--check", metavar="FILE", help="Check a file and print nothing else.")
]

COLUMNS = ("option", "value", "from", "unit", "read by", "what it does")


def run(
    config: ConfigFile = None, example: Example = False, check: Checked = None, json: AsJson = False
) -> int:
    """Show every option that a configuration file can hold, with its value in force."""
    if example:
        sys.stdout.write(example_config())
    elif check is not None:
        sys.stdout.write(f"{check}: {len(read_config(check))} options set, each as it should be\n")
    else:
        _show(in_force(found_config(config)), as_json=json)
    return 0


def _show(options: tuple[InForce, ...], *, as_json: bool) -> None:
    if as_json:
        for one in options:
            print_json(_object(one))
        return
    rows = [
        (
            one.option.name,
            _value_text(one),
            one.source,
            one.option.unit,
            ", ".join(one.option.commands),
            one.option.summary,
        )
        for one in options
    ]
    print_table("Options in force where a command line says nothing else", COLUMNS, rows)


def _object(one: InForce) -> dict[str, object]:
    option = one.option
    return {
        "name": option.name,
        "value": one.value,
        "source": one.source,
        "default": option.default,
        "other_defaults": dict(option.other_defaults),
        "type": option.kind.value,
        "unit": option.unit or None,
        "choices": list(option.choices) or None,
        "commands": list(option.commands),
        "summary": option.summary,
    }


def _value_text(one: InForce) -> str:
    others = one.option.other_defaults if one.source == DEFAULT else ()
    return "; ".join([_text(one.value), *(f"{name}: {_text(value)}" for name, value in others)])


def _text(value: Value | None) -> str:
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
