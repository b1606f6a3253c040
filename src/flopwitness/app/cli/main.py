"""The command line: a table of commands, and what becomes of errors.

Exit status: 0 fine, 1 inconsistent, 2 misuse (one line on standard error), 3 inconclusive, 70 a bug.
"""

import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType, ModuleType

import typer

from flopwitness.core.errors import FlopWitnessError

MISUSE, BUG, INTERRUPTED = 2, 70, 130

EXTRAS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("sklearn", "scipy", "joblib", "matplotlib", "jinja2"), "research")
    | dict.fromkeys(("cryptography", "rfc8785"), "ledger")
    | dict.fromkeys(("fastapi", "uvicorn", "starlette"), "serve")
    | dict.fromkeys(("opentelemetry",), "telemetry")
)
"""Packages that a GPU node does without, and the extra that brings each."""

COMMANDS = frozenset(
    {
        "calibrate",
        "config",
        "convert",
        "demo",
        "doctor",
        "estimate",
        "evaluate",
        "fetch",
        "formats",
        "jobs",
        "read",
        "record",
        "report",
        "rules",
        "serve",
        "verify",
        "watch",
    }
)
"""Commands, each in the module of its name: ``run`` is the command, its docstring the help."""

GROUPS = frozenset({"lab", "ledger", "redteam"})
"""Groups of commands, each in the module of its name: ``app`` holds them."""


def application(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the command that the arguments name, or with all where they name none.

    A module is imported with its command alone: a daemon does not wait for what only reports need.
    """
    app = typer.Typer(
        name="flopwitness",
        help="Witness AI training compute from outside the training code.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(lambda: None)  # without one, Typer takes a single command for the whole program
    for module in _modules(arguments):
        name = module.__name__.rpartition(".")[2]
        if name in GROUPS:
            app.add_typer(module.app, name=name)
        else:
            app.command(name=name)(module.run)
    return app


def _modules(arguments: Sequence[str]) -> tuple[ModuleType, ...]:
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    if first in COMMANDS | GROUPS:
        return (import_module(f"flopwitness.app.cli.{first}"),)
    from flopwitness.app.cli import (  # noqa: PLC0415  the help needs them all, and so does a misspelt name
        calibrate,
        config,
        convert,
        demo,
        doctor,
        estimate,
        evaluate,
        fetch,
        formats,
        jobs,
        lab,
        ledger,
        read,
        record,
        redteam,
        report,
        rules,
        serve,
        verify,
        watch,
    )

    answering = demo, read, estimate, verify, rules, ledger, report, jobs
    live = doctor, record, watch, serve, config
    return *answering, calibrate, evaluate, convert, formats, fetch, *live, lab, redteam


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its status; a user never sees a traceback for a bad input."""
    sys.exit(status_of(sys.argv[1:] if arguments is None else arguments))


def status_of(arguments: list[str]) -> int:
    """Run the command line and return its exit status."""
    try:
        command = typer.main.get_command(application(arguments))
        answer = command.main(arguments, prog_name="flopwitness", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  Python would leave with 1, which means inconsistent
        return _status_of(error)
    return answer if isinstance(answer, int) else 0


def _status_of(error: Exception) -> int:
    """Say what went wrong: one line to a user, a traceback where the fault is ours."""
    if isinstance(error, FlopWitnessError):
        return _refused(str(error))
    if said := getattr(error, "format_message", None):  # a usage error, of Click or of Typer's own copy of it
        return _refused(said())
    if isinstance(error, ModuleNotFoundError) and (extra := EXTRAS.get(str(error.name).partition(".")[0])):
        return _refused(f"this command needs {error.name}: pip install 'flopwitness[{extra}]'")
    traceback.print_exception(error)
    return BUG


def _refused(message: str) -> int:
    sys.stderr.write(f"flopwitness: {' '.join(message.split())}\n")
    return MISUSE
